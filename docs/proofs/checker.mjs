// The second checker of certificates: written from certificates.md and the proofs that
// it names, without the first one (src/sordino/kernel/checker.py) at hand.
//
//     node docs/proofs/checker.mjs FILE...      certificates, one a line
//     import { check } from "./checker.mjs"     in a browser as well
//
// check(text) returns how a charge is known to be enough, or throws Refused. All numbers
// are BigInts: rationals are exact, and everything else (exp, ln, sqrt, Phi) is held
// between two of them, so that each rounding makes a loss larger, never smaller.

export class Refused extends Error {}

function need(holds, why) {
  if (!holds) throw new Refused(why);
}

// --- 1. Reading ---------------------------------------------------------------------

const MOST_CHARACTERS = 2 ** 24;
const MOST_DEPTH = 900;
const MOST_DIGITS = 1500;
const MOST_WHOLE = 2n ** 53n;

/** Read JSON without a double: whole numbers become BigInts, objects Maps. */
function readJson(text) {
  need(typeof text === "string" && text.length <= MOST_CHARACTERS, "too long");
  let at = 0;
  const space = /[ \t\n\r]*/y;
  const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  const number = /-?(?:0|[1-9][0-9]*)(?![0-9.eE])/y;

  function take(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    need(found, "not JSON, or a number that is not whole");
    at = pattern.lastIndex;
    return found[0];
  }

  function skip(mark) {
    take(space);
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  }

  function value(depth) {
    need(depth <= MOST_DEPTH, "nested too deep");
    take(space);
    if (text[at] === "{") return object(depth);
    if (text[at] === "[") return list(depth);
    if (text[at] === '"') return JSON.parse(take(string));
    for (const [word, meaning] of [["null", null], ["true", true], ["false", false]]) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    const digits = take(number);
    need(digits.length <= MOST_DIGITS, "a number of too many digits");
    return BigInt(digits);
  }

  function list(depth) {
    const values = [];
    at += 1;
    if (skip("]")) return values;
    do values.push(value(depth + 1)); while (skip(","));
    need(skip("]"), "not JSON");
    return values;
  }

  function object(depth) {
    const values = new Map();
    at += 1;
    if (skip("}")) return values;
    do {
      take(space);
      const name = JSON.parse(take(string));
      need(!values.has(name), "a name twice in one object");
      need(skip(":"), "not JSON");
      values.set(name, value(depth + 1));
    } while (skip(","));
    need(skip("}"), "not JSON");
    return values;
  }

  const read = value(0);
  take(space);
  need(at === text.length, "not JSON");
  return read;
}

function field(words, name) {
  need(words instanceof Map && words.has(name), `no ${name}`);
  return words.get(name);
}

/** A field that may be left out. Null counts as left out. */
function optional(words, name) {
  need(words instanceof Map, "not an object");
  return words.get(name) ?? null;
}

function readList(words) {
  need(Array.isArray(words), "not a list");
  return words;
}

function readText(words) {
  need(typeof words === "string", "not a text");
  return words;
}

function readNames(words) {
  const names = readList(words).map(readText);
  need(new Set(names).size === names.length, "a name twice");
  return names;
}

function readWhole(words, least = 0n, most = MOST_WHOLE) {
  need(typeof words === "bigint", "not a whole number");
  need(words >= least && words <= most, "a number out of bounds");
  return words;
}

// --- 2. Exact rationals -------------------------------------------------------------

const absolute = (x) => (x < 0n ? -x : x);
const minimum = (a, b) => (a < b ? a : b);
const maximum = (a, b) => (a > b ? a : b);

/** The quotient of two whole numbers, rounded down; the divisor is above 0. */
function floorDivide(a, b) {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}
const ceilDivide = (a, b) => -floorDivide(-a, b);

function greatestDivisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

const MOST_BITS = 65_536n; // sums of hostile fractions would grow without end

class Rational {
  constructor(top, bottom = 1n) {
    const shared = greatestDivisor(absolute(top), bottom) || 1n;
    this.top = top / shared;
    this.bottom = bottom / shared;
    need(this.bottom >> MOST_BITS === 0n, "numbers of too many digits together");
  }
  plus(o) { return new Rational(this.top * o.bottom + o.top * this.bottom, this.bottom * o.bottom); }
  minus(o) { return this.plus(o.times(whole(-1n))); }
  times(o) { return new Rational(this.top * o.top, this.bottom * o.bottom); }
  over(o) {
    need(o.top !== 0n, "a division by zero");
    const sign = o.top < 0n ? -1n : 1n;
    return new Rational(this.top * o.bottom * sign, this.bottom * o.top * sign);
  }
  squared() { return this.times(this); }
  compare(o) {
    const difference = this.top * o.bottom - o.top * this.bottom;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  below(o) { return this.compare(o) < 0; }
  atMost(o) { return this.compare(o) <= 0; }
  floor() { return floorDivide(this.top, this.bottom); }
  ceil() { return ceilDivide(this.top, this.bottom); }
  get isZero() { return this.top === 0n; }
  get isPositive() { return this.top > 0n; }
}

const whole = (n) => new Rational(BigInt(n));
const ratio = (a, b) => new Rational(BigInt(a), BigInt(b));
const ZERO = whole(0);
const ONE = whole(1);
const TWO = whole(2);
const smaller = (a, b) => (a.below(b) ? a : b);
const larger = (a, b) => (a.below(b) ? b : a);
const total = (numbers) => numbers.reduce((sum, each) => sum.plus(each), ZERO);
const powerOfTwo = (n) => (n >= 0n ? whole(2n ** n) : new Rational(1n, 2n ** -n));

function readRational(words) {
  const found = /^(-?[0-9]+)(?:\/([0-9]+))?$/.exec(readText(words));
  need(found, "not an exact number");
  const [, top, bottom] = found;
  need(Math.max(top.length, (bottom ?? "").length) <= MOST_DIGITS, "a number of too many digits");
  need(bottom === undefined || BigInt(bottom) > 0n, "a number over zero");
  return new Rational(BigInt(top), BigInt(bottom ?? "1"));
}

/** The square of "3/8", or of ["sqrt", "3/8"]: of all that is above zero. */
function readSquare(words) {
  let square;
  if (Array.isArray(words)) {
    need(words.length === 2 && words[0] === "sqrt", "not a root");
    square = readRational(words[1]);
  } else {
    const number = readRational(words);
    need(number.isPositive, "a number that is not above zero");
    square = number.squared();
  }
  need(square.isPositive, "a number that is not above zero");
  return square;
}

function wholeRoot(n) {
  if (n < 2n) return n;
  let root = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** A rational at or above the root: exact where the root is rational. */
function rootAbove(square) {
  const top = wholeRoot(square.top);
  const bottom = wholeRoot(square.bottom);
  if (top * top === square.top && bottom * bottom === square.bottom) return ratio(top, bottom);
  // so that tiny roots have as many digits as large ones
  const scale = 128n + BigInt(square.bottom.toString(2).length);
  return ratio(wholeRoot((square.top << (2n * scale)) / square.bottom) + 1n, 1n << scale);
}

// --- 3. Enclosures ------------------------------------------------------------------

// A Span holds a real between two multiples of 2^-BITS.

const BITS = 320n;
const UNIT = 1n << BITS;
const HIGHEST_EXPONENT = 160n;

class Span {
  constructor(low, high) {
    this.low = low;
    this.high = high;
  }
  static of(number) {
    const scaled = number.top << BITS;
    return new Span(floorDivide(scaled, number.bottom), ceilDivide(scaled, number.bottom));
  }
  plus(o) { return new Span(this.low + o.low, this.high + o.high); }
  minus(o) { return new Span(this.low - o.high, this.high - o.low); }
  negated() { return new Span(-this.high, -this.low); }
  times(o) {
    const products = [this.low * o.low, this.low * o.high, this.high * o.low, this.high * o.high];
    const low = products.reduce(minimum);
    const high = products.reduce(maximum);
    return new Span(low >> BITS, -(-high >> BITS));
  }
  /** Divided by what lies above zero. */
  over(o) {
    need(o.low > 0n, "a division by what may be zero");
    const low = this.low << BITS;
    const high = this.high << BITS;
    return new Span(
      floorDivide(low, low < 0n ? o.low : o.high),
      ceilDivide(high, high < 0n ? o.high : o.low),
    );
  }
  within(low, high) {
    const held = (x) => maximum(low, minimum(high, x));
    return new Span(held(this.low), held(this.high));
  }
  /** An exact number at or above everything that the span holds. */
  above() { return new Rational(this.high, UNIT); }
  below() { return new Rational(this.low, UNIT); }
}

const SPAN_ZERO = new Span(0n, 0n);
const SPAN_ONE = new Span(UNIT, UNIT);

/** The sum of a series of terms above zero, the next made of the last by `step`.
 * Each step must at least halve the terms from the place on at which they vanish. */
function addSeries(first, step) {
  let low = 0n;
  let high = 0n;
  let [least, most] = [first, first];
  for (let k = 1n; most > 1n; k += 1n) {
    low += least;
    high += most;
    [least, most] = [step(least, k), step(most, k) + 1n];
  }
  return new Span(low, high + 4n);
}

/** ln 2 = sum of 1 / (k 2^k). */
const LN2 = (() => {
  let low = 0n;
  let terms = 0n;
  for (let k = 1n; k <= BITS + 8n; k += 1n) {
    low += UNIT / (k << k);
    terms += 1n;
  }
  return new Span(low, low + terms + 1n);
})();

/** exp of one multiple of 2^-BITS: x = n ln 2 + r, and the series of exp(r / 2^16). */
function expAt(x) {
  if (x < -(BITS << BITS)) return new Span(0n, 1n);
  need(x <= HIGHEST_EXPONENT << BITS, "an exponent out of reach");
  const beside = (n) => new Span(x, x).minus(LN2.times(new Span(n << BITS, n << BITS)));
  let n = floorDivide(x, LN2.low);
  if (beside(n).low < 0n) n -= 1n;
  const rest = beside(n);
  const ends = [rest.low >> 16n, (rest.high >> 16n) + 1n].map((r) =>
    addSeries(UNIT, (term, k) => (term * r) / (k << BITS)),
  );
  let power = new Span(ends[0].low, ends[1].high);
  for (let doubled = 0; doubled < 16; doubled += 1) power = power.times(power);
  if (n >= 0n) return new Span(power.low << n, power.high << n);
  return new Span(power.low >> -n, (power.high >> -n) + 1n);
}

function exp(x) {
  return new Span(expAt(x.low).low, expAt(x.high).high);
}

/** ln of one number above zero: y = 2^n m, m in [1, 2), and 2 artanh((m-1)/(m+1)). */
function lnAt(y) {
  const n = BigInt(y.toString(2).length) - 1n - BITS;
  const m = n >= 0n ? new Span(y >> n, (y >> n) + 1n) : new Span(y << -n, y << -n);
  const z = m.minus(SPAN_ONE).over(m.plus(SPAN_ONE));
  const square = z.times(z);
  let sum = SPAN_ZERO;
  let power = z;
  for (let k = 1n; power.high > 1n; k += 2n) {
    sum = sum.plus(new Span(power.low / k, power.high / k + 1n));
    power = power.times(square);
  }
  // terms fall by 1/9 or faster: what is left out is below the last one
  const artanh = new Span(sum.low, sum.high + 2n);
  return LN2.times(new Span(n << BITS, n << BITS)).plus(artanh).plus(artanh);
}

function ln(x) {
  need(x.low > 0n, "a logarithm of what may be zero");
  return new Span(lnAt(x.low).low, lnAt(x.high).high);
}

function sqrt(x) {
  need(x.low >= 0n, "a root of what may be below zero");
  return new Span(wholeRoot(x.low << BITS), wholeRoot(x.high << BITS) + 1n);
}

/** pi = 16 arctan(1/5) - 4 arctan(1/239). */
const PI = (() => {
  const arctan = (of) => {
    let sum = 0n;
    let power = UNIT / of;
    let terms = 0n;
    for (let k = 1n; power > 0n; k += 2n) {
      sum += (k % 4n === 1n ? power : -power) / k;
      power /= of * of;
      terms += 3n;
    }
    return new Span(sum - terms, sum + terms);
  };
  const times = (k) => new Span(k << BITS, k << BITS);
  return arctan(5n).times(times(16n)).minus(arctan(239n).times(times(4n)));
})();
const ROOT_OF_TWO_PI = sqrt(PI.plus(PI));

/** Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/15 + ...) of one x at or above 0. */
function normalAbove(x) {
  // beyond 20 the tail is below exp(-200) < 2^-288
  if (x > 20n << BITS) return new Span(UNIT - (1n << 32n), UNIT);
  const square = (x * x) >> BITS;
  // the terms grow while 2 k + 1 < x^2, and at least halve from 2 x^2 on
  let low = 0n;
  let high = 0n;
  let [least, most] = [x, x];
  for (let k = 1n; ; k += 1n) {
    low += least;
    high += most;
    const odd = 2n * k + 1n;
    if (most <= 1n && odd << BITS > 2n * (square + 1n)) break;
    least = (least * square) / (odd << BITS);
    most = (most * (square + 1n)) / (odd << BITS) + 1n;
  }
  const series = new Span(low, high + 4n);
  const half = new Span(square / 2n, square / 2n + 1n);
  const density = exp(half.negated()).over(ROOT_OF_TWO_PI);
  const part = density.times(series).within(0n, UNIT / 2n);
  return new Span(UNIT / 2n + part.low, UNIT / 2n + part.high);
}

function normal(x) {
  const at = (y) => (y >= 0n ? normalAbove(y) : SPAN_ONE.minus(normalAbove(-y)));
  return new Span(at(x.low).low, at(x.high).high).within(0n, UNIT);
}

/** D(e, m) = Phi(m/2 - e/m) - exp(e) Phi(-m/2 - e/m), and max(0, 1 - exp(e)) for m = 0:
 * delta of the Gaussian at an epsilon of any sign (keys.md). */
function gaussianDelta(muSquared, e) {
  const reach = HIGHEST_EXPONENT << BITS;
  if (e.low < -reach) return SPAN_ONE;
  if (muSquared.isZero) {
    return e.low >= 0n ? SPAN_ZERO : SPAN_ONE.minus(exp(e)).within(0n, UNIT);
  }
  const mu = sqrt(Span.of(muSquared));
  need(mu.low > 0n, "noise out of reach");
  const half = new Span(mu.low / 2n, mu.high / 2n + 1n);
  const rest = e.over(mu);
  const first = normal(half.minus(rest));
  // where exp(e) is out of reach its term is left out, which only makes delta larger
  if (e.high > reach) return new Span(0n, first.high);
  return first.minus(exp(e).times(normal(half.negated().minus(rest)))).within(0n, UNIT);
}

/** 1 - (1 - p)^n for a chance p that is known from above. */
function chanceOfAny(p, n) {
  const held = smaller(p, ONE);
  if (held.compare(ONE) === 0) return n > 0n ? ONE : ZERO;
  if (n === 0n || held.isZero) return ZERO;
  const missed = Span.of(ONE.minus(held));
  let power = SPAN_ONE;
  for (const digit of n.toString(2)) {
    power = power.times(power);
    if (digit === "1") power = power.times(missed);
  }
  return smaller(SPAN_ONE.minus(power).above(), held.times(whole(n)));
}

// --- 4. What a unit's rows are (certificates.md, section 2) ---------------------------

// Bounds are BigInts, or null where nothing is known. Each column has a *version*: a
// column that is written anew is another version, so that no bound applies to it.

const least = (...bounds) => bounds.filter((b) => b !== null).reduce((a, b) => (a === null ? b : minimum(a, b)), null);
const product = (a, b) => (a === null || b === null ? null : a * b);
const isWithin = (part, all) => [...part].every((each) => all.has(each));

const MOST_COVERS = 4096;
const MOST_COLUMNS = 24;

/** How far a vector moves: entries, sum, sum of squares, largest entry. */
class Move {
  /** Norms are tightened by each other. */
  static of(entries, l1, squares, largest) {
    need(entries !== null && l1 !== null && largest !== null, "a number that no bound holds");
    let sum = smaller(l1, largest.times(whole(entries)));
    let most = smaller(largest, sum);
    let l2 = smaller(squares ?? sum.squared(), sum.times(most));
    l2 = smaller(l2, most.squared().times(whole(entries)));
    if (l2.below(most.squared())) most = smaller(most, rootAbove(l2));
    return Object.assign(new Move(), { entries, l1: sum, squares: l2, largest: most });
  }
  /** A vector of which the sum of squares alone is known: for Gaussian noise. */
  static ofSquares(squares) {
    return Object.assign(new Move(), { entries: null, l1: null, squares, largest: null });
  }
  /** What two bounds on one vector say together. */
  and(o) {
    return Move.of(
      minimum(this.entries, o.entries), smaller(this.l1, o.l1), smaller(this.squares, o.squares), smaller(this.largest, o.largest),
    );
  }
  /** Each entry so many times as far, in so many numbers for each. */
  times(size, numbers = 1n) {
    return Move.of(
      this.entries * numbers, this.l1.times(size), this.squares.times(size.squared()), this.largest.times(size),
    );
  }
}

const ONE_OF_ALL = Move.of(1n, ONE, ONE, ONE);

/** The most that squares of at most `entries` numbers add up to, each at most `largest`
 * and `sum` in all: as many of the largest as fit, and the rest (queries.md, lemma 1). */
function mostSquares(sum, largest, entries) {
  if (largest === 0n) return 0n;
  const full = minimum(entries, sum / largest);
  const rest = full < entries ? minimum(sum - full * largest, largest) : 0n;
  return full * largest * largest + rest * rest;
}

/** What is known of one unit's rows: n, L(C) and R(C) for sets C of versions. */
class Bounds {
  constructor(n = null, groups = [], rowsIn = []) {
    this.n = n;
    this.groups = groups; // of [versions, L]
    this.rowsIn = rowsIn; // of [versions, R]
  }
  with({ n = null, groups = [], rowsIn = [] }) {
    return new Bounds(least(this.n, n), [...this.groups, ...groups], [...this.rowsIn, ...rowsIn]);
  }
  /** m rows of each row; null is any number (queries.md 3). */
  multiply(m) {
    const rowsIn = m === null ? [] : this.rowsIn.map(([of, most]) => [of, most * m]);
    return new Bounds(product(this.n, m), this.groups, rowsIn);
  }
  /** The least product of L over sets that cover B; 1 for no columns. */
  leastProduct(by) {
    const columns = [...by];
    need(columns.length <= MOST_COLUMNS, "too many columns");
    const all = (1 << columns.length) - 1;
    let reached = new Map([[0, 1n]]);
    for (const [of, most] of this.groups) {
      const covers = columns.reduce((mask, each, place) => (of.has(each) ? mask | (1 << place) : mask), 0);
      if (!covers) continue;
      const next = new Map(reached);
      for (const [mask, groups] of reached) {
        const known = next.get(mask | covers) ?? null;
        next.set(mask | covers, least(known, groups * most));
      }
      need(next.size <= MOST_COVERS, "too many bounds on groups");
      reached = next;
    }
    return reached.get(all) ?? null;
  }
  /** N: the least of n and of L(C) R(C'), L(C) bounding the values of C'. */
  mostRows() {
    const products = this.rowsIn.map(([of, most]) => product(this.leastProduct(of), most));
    return least(this.n, ...products);
  }
  groupsTouched(by) {
    return least(this.leastProduct(by), this.mostRows());
  }
  /** How far row counts in groups of B move (queries.md, lemma 1). */
  rowMove(by) {
    const n = this.mostRows();
    const rowsIn = this.rowsIn.filter(([of]) => isWithin(of, by));
    const largest = least(n, ...rowsIn.map(([, most]) => most));
    const touched = this.groupsTouched(by);
    need(touched !== null && largest !== null, "a unit's rows that no bound holds");
    const entries = largest === 0n ? 0n : touched;
    const sum = least(n, entries * largest);
    const squares = rowsIn
      .map(([of, most]) => product(this.leastProduct(of), most * most))
      .concat(mostSquares(sum, largest, entries));
    return Move.of(entries, whole(sum), whole(least(...squares)), whole(largest));
  }
}

/** The rows at one step of a plan. */
class Rows {
  constructor(known) {
    Object.assign(this, {
      columns: new Map(), // names to versions
      bounds: new Bounds(),
      isPublic: false,
      id: null, // the version of the id
      space: null, // its id space
      each: null, // e, rows each way
      size: null, // a public number of rows
      weight: null, // { version, bounds }: the weighed column, which moves as so bounded rows
      keys: null, // { columns, most }: rows a key, of all rows
      part: null, // { rows: m, one: Bounds of a unit of one row, or null }
    }, known);
  }
  with(known) {
    return new Rows({ ...this, ...known });
  }
  versions(names) {
    return new Set(names.map((name) => {
      need(this.columns.has(name), "a column that is not there");
      return this.columns.get(name);
    }));
  }
  /** Tighten what is known, of the unit and of one of its rows. */
  tighten(bounds) {
    const part = this.part?.one ? { ...this.part, one: this.part.one.with(bounds) } : this.part;
    return this.with({ bounds: this.bounds.with(bounds), part });
  }
  /** The weighed column is forgotten where it is read (units.md, lemma 3). */
  reading(names) {
    return this.weight && this.versions(names).has(this.weight.version) ? this.with({ weight: null }) : this;
  }
  /** The whole unit is priced where rows of a unit meet (filters.md, lemma 6). */
  ofWholeUnit() {
    return this.part ? this.with({ part: { ...this.part, one: null } }) : this;
  }
  isIdAlone(names) {
    return names.length === 1 && this.id !== null && this.columns.get(names[0]) === this.id;
  }
  hasId(names) {
    return this.id !== null && names.some((name) => this.columns.get(name) === this.id);
  }
}

/** Reads plans over the tables of one certificate. */
class PlanReader {
  constructor(tables) {
    need(tables instanceof Map, "no tables");
    this.tables = tables;
    this.versions = 0;
  }

  newVersion() {
    this.versions += 1;
    return this.versions;
  }

  newColumns(names) {
    return new Map(names.map((name) => [name, this.newVersion()]));
  }

  rows(node) {
    const rule = PLAN_RULES[readText(field(node, "do"))];
    need(rule, "a step without a rule");
    return rule.call(this, node);
  }

  below(node) {
    return this.rows(field(node, "of"));
  }

  private(node) {
    const rows = this.below(node);
    need(!rows.isPublic, "a step of public rows");
    return rows;
  }
}

/** Rows of a private table, and whom it protects. */
function readTable(node, isUnreadable = false) {
  const columns = this.newColumns(readNames(field(node, "columns")));
  const unit = field(this.tables, readText(field(node, "table")));
  const leavesOut = readNames(field(node, "leaves_out"));
  const limit = (name) => readWhole(field(unit, name), 1n);
  const version = (name) => {
    const column = readText(field(unit, name));
    // rows that cannot be read are counted without their cells
    if (isUnreadable && !columns.has(column)) return this.newVersion();
    need(columns.has(column), "a protected column that is not there");
    return columns.get(column);
  };
  switch (readText(field(unit, "protects"))) {
    case "AddOneRow":
      return new Rows({ columns, bounds: new Bounds(1n) });
    case "AddMaxRows":
      return new Rows({ columns, bounds: new Bounds(limit("max_rows")) });
    case "AddMaxRowsInMaxGroups": {
      const [groups, rows] = [limit("max_groups"), limit("max_rows_per_group")];
      const of = new Set([version("column")]);
      return new Rows({ columns, bounds: new Bounds(groups * rows, [[of, groups]], [[of, rows]]) });
    }
    case "ChangeOneRow": {
      const size = readWhole(field(unit, "rows"));
      return new Rows({ columns, bounds: new Bounds(2n), each: 1n, size });
    }
    case "AddMaxTotal": {
      need(leavesOut.includes("below 1"), "rows below 1 that are not left out");
      const most = limit("max_total");
      const of = version("column");
      const inEach = (rows) => {
        if (!unit.has("in_each")) return [];
        const words = readList(unit.get("in_each"));
        const named = readNames(words.slice(0, -1));
        need(named.length > 0 && named.every((name) => columns.has(name)), "no columns of a cell");
        const cell = new Set(named.map((name) => columns.get(name)));
        need(!cell.has(of), "cells of the column itself");
        return [[cell, rows * readWhole(words[words.length - 1], 1n)]];
      };
      const weight = { version: of, bounds: new Bounds(most, [], inEach(1n)) };
      return new Rows({ columns, bounds: new Bounds(2n * most, [], inEach(2n)), each: most, weight });
    }
    case "AddRowsWithID": {
      need(leavesOut.includes("without id"), "rows without an id that are not left out");
      const id = version("column");
      const space = readText(field(unit, "id_space"));
      return new Rows({ columns, bounds: new Bounds(null, [[new Set([id]), 1n]]), id, space });
    }
    default:
      throw new Refused("an unknown unit");
  }
}

const PLAN_RULES = {
  __proto__: null,
  table(node) {
    return readTable.call(this, node);
  },

  public(node) {
    const name = readText(field(node, "table"));
    need(!this.tables.has(name), "a private table as a public one");
    return new Rows({ columns: this.newColumns(readNames(field(node, "columns"))), isPublic: true });
  },

  // carried columns keep their version, others are new (queries.md 3)
  project(node) {
    let rows = this.below(node);
    const columns = new Map();
    for (const [name, made] of field(node, "columns")) {
      if (made.has("is")) {
        const [version] = rows.versions([readText(made.get("is"))]);
        columns.set(name, version);
      } else {
        rows = rows.reading(readNames(field(made, "reads")));
        columns.set(name, this.newVersion());
      }
    }
    need(rows.id === null || [...columns.values()].includes(rows.id), "the id is not carried");
    return rows.with({ columns });
  },

  filter(node) {
    return this.private(node).reading(readNames(field(node, "reads"))).with({ size: null });
  },

  part(node) {
    return splitParts(this.private(node), node).rows;
  },

  // what is kept of an id depends on its rows alone (lemma 3); rows push out rows (lemma 2)
  keep_rows(node) {
    const rows = this.private(node);
    const per = readNames(field(node, "per"));
    const limit = readWhole(field(node, "limit"));
    if (rows.id === null) return truncateRows(rows, per, limit, 2n);
    need(rows.hasId(per), "rows kept without the id");
    const others = rows.versions(per);
    others.delete(rows.id);
    return rows.tighten(others.size ? { rowsIn: [[others, limit]] } : { n: limit });
  },

  keep_groups(node) {
    const rows = this.private(node);
    need(rows.isIdAlone(readNames(field(node, "per"))), "groups kept of more than an id");
    const groups = rows.versions(readNames(field(node, "groups")));
    return rows.tighten({ groups: [[groups, readWhole(field(node, "limit"))]] });
  },

  keep_unique(node) {
    const rows = this.private(node);
    need(rows.id === null, "unique rows of ids");
    return truncateRows(rows, readNames(field(node, "per")), 1n, 1n);
  },

  // user code reads the whole row
  map(node) {
    return writeAnew(this, this.private(node), node);
  },
  flat_map(node) {
    return makeSeveral(this, this.private(node), node);
  },
  explode(node) {
    return makeSeveral(this, this.private(node), node);
  },

  // lemma 11: one row in each group of B, one in all if B is empty
  one_per(node) {
    const rows = this.private(node).ofWholeUnit();
    const per = readNames(field(node, "per"));
    need(rows.hasId(per), "one row for each of what is no id");
    const groups = rows.versions(per);
    groups.delete(rows.id);
    const columns = new Map(per.map((name) => [name, rows.columns.get(name)]));
    for (const name of readNames(field(node, "makes"))) columns.set(name, this.newVersion());
    need([...columns.values()].includes(rows.id), "the id is written anew");
    return rows.with({ columns }).tighten(groups.size ? { rowsIn: [[groups, 1n]] } : { n: 1n });
  },

  join(node) {
    const left = this.rows(field(node, "left"));
    const right = this.rows(field(node, "right"));
    need(!left.isPublic, "a join of public rows on the left");
    const on = readNames(field(node, "on"));
    const isOuter = field(node, "outer");
    need(typeof isOuter === "boolean", "neither inner nor outer");
    const brings = [...field(node, "brings")].map(([old, name]) => [old, readText(name)]);
    const columns = new Map(left.columns);
    left.versions(on);
    right.versions(on);
    for (const [old, name] of brings) {
      need(!columns.has(name), "a column twice");
      const [version] = right.versions([old]);
      columns.set(name, version);
    }
    if (right.isPublic) return joinPublic(left, readWhole(field(node, "most")), on, isOuter).with({ columns });
    need(!isOuter, "an outer join of private tables");
    const joined = left.id === null && right.id === null ? joinRows(left, right, on) : joinIds(left, right, on);
    return joined.with({ columns });
  },

  // of coverage alone: values above a limit, rows with a cell that cannot be read
  crowded(node) {
    const rows = this.private(node);
    rows.versions([...readNames(field(node, "per")), ...readNames(field(node, "groups"))]);
    return rows;
  },
  unreadable(node) {
    return readTable.call(this, node, true);
  },
};

/** A truncation by rows: lemma 2. All else is forgotten. */
function truncateRows(rows, per, limit, moved) {
  const keys = { columns: rows.versions(per), most: limit };
  const truncated = (bounds) => new Bounds(product(bounds.mostRows(), moved));
  // row after row: so one row of a unit moves what one row moves
  const part = rows.part?.one ? { ...rows.part, one: truncated(rows.part.one) } : rows.part;
  return rows.with({ bounds: truncated(rows.bounds), part, keys, each: null, size: null, weight: null });
}

function writeAnew(plan, rows, node) {
  const columns = new Map(rows.columns);
  for (const name of readNames(field(node, "makes"))) columns.set(name, plan.newVersion());
  need(rows.id === null || [...columns.values()].includes(rows.id), "the id is written anew");
  return rows.with({ columns, weight: null });
}

/** At most m rows of each: queries.md 3. */
function multiplyRows(rows, m) {
  const all = new Set(rows.columns.values());
  const held = (bounds) => {
    const n = bounds.mostRows();
    return (n === null ? bounds : bounds.with({ groups: [[all, n]] })).multiply(m);
  };
  const part = rows.part?.one ? { ...rows.part, one: held(rows.part.one) } : rows.part;
  return rows.with({ bounds: held(rows.bounds), part, each: product(rows.each, m), keys: null });
}

function makeSeveral(plan, rows, node) {
  const limit = optional(node, "limit");
  const m = limit === null ? null : maximum(readWhole(limit), 1n);
  return writeAnew(plan, multiplyRows(rows, m), node).with({ size: null });
}

/** A row meets at most m rows of a public table (queries.md 3). */
function joinPublic(left, most, on, isOuter) {
  const rows = multiplyRows(left, maximum(most, 1n)).reading(on);
  return rows.with({
    weight: most <= 1n ? rows.weight : null,
    size: isOuter && most <= 1n ? rows.size : null,
    keys: most <= 1n ? left.keys : null,
  });
}

/** Lemma 4: t_l n_r + t_r n_l pairs, after truncation to t rows a key of exactly `on`. */
function joinRows(left, right, on) {
  for (const side of [left, right]) {
    const keys = side.versions(on);
    need(side.keys && keys.size === side.keys.columns.size && isWithin(keys, side.keys.columns),
      "a join of rows that are not truncated by its columns");
  }
  const meets = (one, other) => product(one.keys.most, other.bounds.mostRows());
  const n = meets(left, right) + meets(right, left);
  return joinParts(left, right).with({ bounds: new Bounds(n), each: null, size: null, weight: null, keys: null });
}

/** Lemma 5: pairs of rows of one id. */
function joinIds(left, right, on) {
  need(left.id !== null && right.id !== null && left.space === right.space, "a join of two kinds of units");
  need(left.hasId(on) && on.some((name) => left.columns.get(name) === left.id && right.columns.get(name) === right.id),
    "a join of ids that is not on the id");
  // a column that is joined on is one column of the pair
  const renamed = new Map(on.map((name) => [right.columns.get(name), left.columns.get(name)]));
  const again = ([of, most]) => [new Set([...of].map((each) => renamed.get(each) ?? each)), most];
  const [l, r] = [left.bounds, right.bounds];
  const [nLeft, nRight] = [l.mostRows(), r.mostRows()];
  const rowsIn = [
    ...l.rowsIn.map(([of, most]) => [of, product(most, nRight)]),
    ...r.rowsIn.map(again).map(([of, most]) => [of, product(most, nLeft)]),
  ].filter(([, most]) => most !== null);
  const groups = [...l.groups, ...r.groups.map(again)];
  return joinParts(left, right).with({ bounds: new Bounds(product(nLeft, nRight), groups, rowsIn) });
}

/** Where rows of a unit meet, the whole unit is priced (filters.md, lemma 6). */
function joinParts(left, right) {
  const shares = [left, right].filter((side) => side.part).map((side) => side.part.rows);
  if (!shares.length) return left;
  return left.with({ part: { rows: shares.reduce(maximum), one: null } });
}

/** How many budgets of a part the whole pays, and the rows in one (filters.md 7). */
function splitParts(rows, node) {
  const by = rows.versions([readText(field(node, "by"))]);
  const count = readWhole(field(node, "count"), 1n);
  const inOne = (bounds) => {
    const held = bounds.rowsIn.filter(([of]) => isWithin(of, by)).map(([, most]) => most);
    return bounds.with({ n: least(null, ...held), groups: [[by, 1n]] });
  };
  const parted = rows.with({ bounds: inOne(rows.bounds), size: null, weight: null, keys: null });
  const one = rows.part?.one;
  if (one) { // a part of a part that is charged by the row
    const times = whole(least(one.groupsTouched(by), count));
    return { times, rows: parted.with({ part: { ...rows.part, one: inOne(one) } }) };
  }
  const touched = rows.bounds.groupsTouched(by);
  need(touched !== null, "parts that a unit may touch without bound");
  const k = minimum(touched, count);
  const n = rows.bounds.mostRows();
  const m = parted.bounds.mostRows();
  // rows that met others: each may be in as many parts as all of them together
  if (rows.part) return { times: whole(k * rows.part.rows), rows: parted.with({ part: null }) };
  if (n === null || m === null || m === 0n || n >= k * m) return { times: whole(k), rows: parted };
  const ofOneRow = inOne(rows.bounds).with({ n: 1n });
  return {
    times: ratio(n, m),
    rows: parted.with({ part: { rows: m, one: ofOneRow } }),
  };
}

// --- 5. How far numbers move (certificates.md, section 3) -----------------------------

/** The range of what a cell says it does last; null is any number. */
function cellRange(cell, depth = 0) {
  need(cell instanceof Map && cell.size === 1 && depth < 100, "not a cell");
  const [[kind, words]] = cell;
  const limit = (n) => readWhole(n, -MOST_WHOLE);
  switch (kind) {
    case "is":
      return words === null ? null : [limit(words), limit(words)];
    case "steps": {
      need(readList(words).length === 3, "not the steps of a range");
      const [low, high, origin] = words.map(limit);
      need(low <= high, "a range that ends before it begins");
      return [low - origin, high - origin];
    }
    case "clip":
      return readClip(words).slice(1);
    case "portion": {
      const { parts, place } = readPortion(words);
      // the middle portion is at most W m / 2 + 2 (moments.md, lemma 1)
      return [0n, place === 1n ? minimum(parts, parts / 2n + 2n) : parts];
    }
    case "either": {
      const ranges = readList(words).map((each) => cellRange(each, depth + 1));
      need(ranges.length > 0, "neither");
      if (ranges.includes(null)) return null;
      return [ranges.map(([low]) => low).reduce(minimum), ranges.map(([, high]) => high).reduce(maximum)];
    }
    case "product": {
      need(readList(words).length === 2, "not two factors");
      const [left, right] = words.map((each) => cellRange(each, depth + 1));
      if (left === null || right === null) return null;
      const ends = left.flatMap((a) => right.map((b) => a * b));
      return fitting(ends.reduce(minimum), ends.reduce(maximum));
    }
    case "square": {
      const range = cellRange(words, depth + 1);
      if (range === null) return null;
      return fitting(0n, range.map((x) => x * x).reduce(maximum));
    }
    case "missing":
      return [0n, 1n];
    case "column":
      readText(words);
      return null;
    default:
      throw new Refused("a cell without a rule");
  }
}

/** The name of a column, and the ends that it is clamped to. */
function readClip(words) {
  need(readList(words).length === 3, "not a clamp");
  const [low, high] = [readWhole(words[1]), readWhole(words[2])];
  need(low <= high, "a clamp that ends before it begins");
  return [readText(words[0]), low, high];
}

/** Products that fit into 64 bits: no other is added up. */
function fitting(low, high) {
  need(maximum(absolute(low), absolute(high)) < 1n << 62n, "a product beyond 64 bits");
  return [low, high];
}

/** A portion of W m, m = 2^finer: moments.md 1. */
function readPortion(words) {
  need(readList(words).length === 3, "not a portion");
  const [width, place, finer] = [readWhole(words[0], 1n), readWhole(words[1], 0n, 2n), readWhole(words[2], 0n, 64n)];
  return { width, place, finer, parts: width << finer };
}

/** The most that one row adds, whether rows add with one sign, and 1 at most. */
function totalRange(words) {
  const range = cellRange(field(words, "cell"));
  need(range !== null, "a number without bounds");
  const [factor, shift] = ["factor", "shift"].map((name) => readWhole(field(words, name), -MOST_WHOLE));
  // a value that is missing although the facts deny it counts as 0 steps (queries.md 5)
  const ends = [...range, 0n].map((x) => factor * x + shift);
  const low = ends.reduce(minimum);
  const high = ends.reduce(maximum);
  return {
    most: whole(maximum(absolute(low), absolute(high))),
    hasOneSign: low >= 0n || high <= 0n,
    isNeverBelow: low >= 0n,
    isCount: low >= 0n && high <= 1n,
  };
}

function readTotals(number, least, most = least) {
  const totals = readList(field(number, "totals"));
  need(totals.length >= least && totals.length <= most, "another number of totals");
  return totals;
}

/** Numbers are added up in steps of 2^exponent. */
function stepOf(number) {
  const exponent = optional(number, "exponent") ?? 0n;
  return powerOfTwo(readWhole(exponent, -2000n, 2000n));
}

/** The groups that numbers are told of. */
class Groups {
  constructor(rows, by, known, isByRow) {
    Object.assign(this, { rows, by, known, isByRow });
  }
  at(by) {
    return new Groups(this.rows, by, this.known, this.isByRow);
  }
  with(versions) {
    return this.at(new Set([...this.by, ...versions]));
  }
  /** Row counts; rows that are charged one by one move m times what one does. */
  rowMove() {
    if (!this.isByRow) return this.rows.bounds.rowMove(this.by);
    const m = this.rows.part.rows;
    return this.rows.part.one.rowMove(this.by).times(whole(m), m);
  }
  /** Numbers of one sign: rows that leave and come do not add up (units.md, lemma 1);
   * beside a weighed column they move as T rows (lemma 3). */
  countMove() {
    const moves = [this.rowMove()];
    const each = this.isByRow ? null : this.rows.each;
    if (each !== null) {
      const [{ entries, l1 }] = moves;
      moves.push(Move.of(entries, l1, whole(2n * each * each), whole(each)));
    }
    if (this.isWeighed()) moves.push(this.weightMove());
    return moves.reduce((a, b) => a.and(b));
  }
  isWeighed() {
    return !this.isByRow && this.rows.weight !== null && !this.by.has(this.rows.weight.version);
  }
  weightMove() {
    const { n, rowsIn } = this.rows.weight.bounds;
    return new Bounds(n, this.rows.bounds.groups, rowsIn).rowMove(this.by);
  }
  /** An id adds 1 to each group that it touches; m of one row that is charged by itself. */
  idMove() {
    const ofUnit = this.isByRow ? this.rows.part.one : this.rows.bounds;
    const touched = ofUnit.groupsTouched(this.by);
    need(touched !== null, "groups of an id that no bound holds");
    // of no group but the known ones anything is told
    const most = this.known === null ? touched : minimum(touched, this.known);
    const move = Move.of(most, whole(most), whole(most), ONE);
    const m = this.isByRow ? this.rows.part.rows : 1n;
    return move.times(whole(m), m);
  }
  get touched() {
    const touched = this.rows.bounds.groupsTouched(this.by);
    need(touched !== null, "groups of a unit that no bound holds");
    return touched;
  }
}

const NUMBER_RULES = {
  __proto__: null,

  // one total in [a, b] of a row: queries.md 5, units.md 1 and 3
  sum(number, groups) {
    const [words] = readTotals(number, 1);
    const weighed = weighedFactor(words, groups);
    if (weighed !== null) return groups.weightMove().times(weighed);
    const { most, hasOneSign } = totalRange(words);
    return (hasOneSign ? groups.countMove() : groups.rowMove()).times(most);
  },

  // ids add 1 to each group; other values are no more than rows
  distinct(number, groups) {
    const names = readNames(field(number, "columns"));
    need(names.length > 0, "different values of nothing");
    groups.rows.versions(names);
    return groups.rows.isIdAlone(names) ? groups.idMove() : groups.rowMove();
  },

  // ranges that do not overlap are groups of one more column
  bins(number, groups) {
    const totals = readTotals(number, 1, 2 ** 24);
    const ranges = totals.map(totalRange);
    need(ranges.every((each) => each.isCount), "more than a row in a range");
    const range = new Set(["range"]);
    const rows = groups.rows.tighten({ groups: [[range, BigInt(totals.length)]] });
    const finer = new Groups(rows, new Set([...groups.by, ...range]), groups.known, groups.isByRow);
    return finer.rowMove();
  },

  // nonnegative numbers of a row that add up to W: moments.md, lemmas 1 and 2
  together(number, groups) {
    const { parts, numbers } = readDivision(number);
    const { entries, l1, squares, largest } = groups.rowMove().times(whole(parts));
    return Move.of(entries * numbers, l1, squares, largest);
  },

  // several numbers of a row, each with a size of its own: moments.md, lemma 7; what one
  // group holds moves together, and stands for the largest entry
  vector(number, groups) {
    const sizes = readTotals(number, 1, 10_000).map((words) => totalRange(words).most);
    const { entries, l1, squares, largest } = groups.rowMove();
    const square = sizes.map((size) => size.squared()).reduce((sum, each) => sum.plus(each));
    const sum = sizes.reduce((all, each) => all.plus(each));
    const numbers = entries * BigInt(sizes.length);
    return Move.of(numbers, l1.times(sum), squares.times(square), largest.times(rootAbove(square)));
  },

  // two sums over a table of public size: units.md, lemma 2
  sized(number, groups) {
    const { rows, by, isByRow } = groups;
    need(rows.size !== null && rows.each !== null && by.size === 0 && !isByRow, "a number of rows that is not public");
    const [values, middle] = readTotals(number, 2);
    const portion = readPortion(field(field(middle, "cell"), "portion"));
    const [low, high, origin] = readList(field(field(values, "cell"), "steps")).map((n) => readWhole(n, -MOST_WHOLE));
    need(origin === low && high - low === portion.width && portion.place === 1n, "other numbers than sums of one column");
    needPlain(values, 1n << portion.finer);
    needPlain(middle);
    const w = portion.parts;
    const [sum, root, largest] = [ratio(9n * w + 16n, 8n), whole(w + 2n), whole(maximum(w, w / 2n + 2n))];
    return Move.of(2n, sum, root.squared(), largest).times(whole(rows.each));
  },

  // one count of the ids of the whole table
  "ids everywhere"(number, groups) {
    need(groups.rows.id !== null && !groups.isByRow, "ids of a table that has none");
    return ONE_OF_ALL;
  },

  // counts less a share c of the number of ids: moments.md, lemma 6
  centred(number, groups) {
    need(groups.rows.id !== null && groups.known !== null && !groups.isByRow, "a share of what is not counted");
    need(groups.known > 0n, "no known groups");
    const base = field(number, "base");
    need(isCount(base, groups.rows), "a share of what is no count");
    const { entries, largest } = moveOf(base, groups);
    // off/64 of the number of ids is taken off, and an id adds up to `largest`
    const c = ratio(readWhole(field(number, "off")), 64n).over(largest);
    need(c.atMost(ratio(1n, 2n)), "more than half is taken off");
    const d = whole(groups.known);
    const k = smaller(whole(entries), d);
    const squares = k.times(ONE.minus(c.times(TWO))).plus(d.times(c.squared()));
    const sum = k.times(ONE.minus(c)).plus(d.minus(k).times(c));
    return Move.of(groups.known, sum, squares, ONE).times(largest);
  },

  // C x of periods: over-time.md, lemma 1
  running(number, groups) {
    const factors = readList(field(number, "factors")).map((f) => readWhole(f, 0n, 256n));
    need(factors.length > 0 && factors.length <= 10_000 && factors[0] === 256n, "other factors");
    need(factors.every((f, place) => place === 0 || f <= factors[place - 1]), "factors that rise");
    const base = moveOf(field(number, "base"), groups);
    if (base.l1.isZero || factors.every((f, place) => place === 0 || f === 0n)) return base;
    need(groups.by.size > 0, "figures of no periods");
    const k = minimum(base.entries, base.l1.over(base.largest).ceil());
    const squares = squaresOfColumns(factors, k); // s_1^2 ... s_m^2, m = min(k, T)
    const isOneBlock = groups.by.size === 1;
    const worst = isOneBlock
      ? squares[squares.length - 1]
      : squares.map((s, place) => s.over(whole(place + 1))).reduce(larger).times(whole(k));
    return Move.ofSquares(smaller(base.largest.squared().times(worst), base.l1.squared().times(squares[0])));
  },
};

/** The squares of s_j = |c_1 + ... + c_j| for j up to min(k, T), in units of 1. */
function squaresOfColumns(factors, k) {
  const periods = factors.length;
  const column = new Array(periods).fill(0n);
  const squares = [];
  for (let j = 0; j < periods && BigInt(j) < k; j += 1) {
    for (let t = j; t < periods; t += 1) column[t] += factors[t - j];
    squares.push(ratio(column.reduce((sum, x) => sum + x * x, 0n), 65_536n));
  }
  return squares;
}

/** Whether a number is that of the rows, or of the ids, of each group. */
function isCount(number, rows) {
  if (field(number, "of") === "distinct") return rows.isIdAlone(readNames(field(number, "columns")));
  need(field(number, "of") === "sum", "neither a sum nor a count");
  const [words] = readTotals(number, 1);
  const [low, high] = cellRange(field(words, "cell")) ?? [];
  needPlain(words);
  return low === 1n && high === 1n;
}

/** The factor of a total of the weighed column itself, or of a clamp that keeps 0
 * (units.md, lemma 4), else null. */
function weighedFactor(words, groups) {
  const cell = field(words, "cell");
  if (!(cell instanceof Map) || !groups.isWeighed()) return null;
  let name = cell.get("column");
  if (cell.has("clip")) {
    const [of, low, high] = readClip(cell.get("clip"));
    if (low > 1n || high < 1n) return null;
    name = of;
  }
  if (name === undefined) return null;
  const [version] = groups.rows.versions([readText(name)]);
  if (version !== groups.rows.weight.version || field(words, "shift") !== 0n) return null;
  return whole(absolute(readWhole(field(words, "factor"), -MOST_WHOLE)));
}

function needPlain(words, factor = 1n, shift = 0n) {
  need(field(words, "factor") === factor && field(words, "shift") === shift, "a total with another factor");
}

/** What each row is divided into: a pair or a triple, and a number for missing values. */
function readDivision(number) {
  const totals = readTotals(number, 2, 4);
  const first = field(totals[0], "cell");
  let parts;
  let rest;
  if (first instanceof Map && first.has("portion")) {
    const portions = totals.slice(0, 3).map((words, place) => {
      needPlain(words);
      const portion = readPortion(field(field(words, "cell"), "portion"));
      need(portion.place === BigInt(place), "portions out of order");
      return portion;
    });
    need(portions.length === 3, "too few portions");
    need(portions.every((p) => p.width === portions[0].width && p.finer === portions[0].finer), "unequal portions");
    [parts, rest] = [portions[0].parts, totals.slice(3)];
  } else {
    const cells = totals.slice(0, 2).map((words) => readList(field(field(words, "cell"), "steps")));
    const [low, high, origin] = cells[0].map((n) => readWhole(n, -MOST_WHOLE));
    need(low === origin && low <= high, "steps that are not counted from the low end");
    need(cells[0].length === 3 && cells[1].length === 3 && cells[1].every((n, place) => n === cells[0][place]), "two columns in one division");
    [parts, rest] = [high - low, totals.slice(2)];
    needPlain(totals[0], -1n, parts);
    needPlain(totals[1]);
  }
  need(rest.length <= 1, "too many numbers of a row");
  for (const words of rest) {
    need(field(words, "cell").has("missing"), "a further number that is not of missing values");
    needPlain(words, parts);
  }
  return { parts, numbers: BigInt(totals.length) };
}

/** How far a number moves, in its own unit. */
function moveOf(number, groups) {
  const rule = NUMBER_RULES[readText(field(number, "of"))];
  need(rule, "a number without a rule");
  const move = rule(number, groups);
  const step = stepOf(number);
  return move.l1 === null ? move : move.times(step);
}

/** What is left out is counted, too: queries.md, lemma 10. A unit of one row may move it as
 * far as one of m rows, where these are charged one by one. */
function coverageMove(count, rows, plan, isByRow) {
  const m = whole(isByRow ? rows.part.rows : 1n);
  switch (readText(field(count, "of"))) {
    case "clamped":
      // its rows come and go: they are not sums of one sign of rows that leave and come
      need(totalRange(readTotals(count, 1)[0]).isCount, "more than a row is left out");
      return new Groups(rows, new Set(), null, isByRow).rowMove();
    case "ids":
      need(plan.rows(field(count, "rows")).id !== null, "ids of a table that has none");
      return ONE_OF_ALL.times(m, m.top);
    case "sum": {
      const { id, bounds } = plan.rows(field(count, "rows"));
      need(id !== null && bounds.mostRows() === 1n, "a sum of several rows of an id");
      const { most, isNeverBelow } = totalRange(readTotals(count, 1)[0]);
      need(isNeverBelow, "a sum of what may be below zero");
      return ONE_OF_ALL.times(most).times(m, m.top);
    }
    case "rows": {
      const counted = plan.rows(field(count, "rows"));
      need(!counted.isPublic && counted.id === null, "rows that are counted as ids");
      return counted.bounds.rowMove(new Set()).times(m, m.top);
    }
    default:
      throw new Refused("coverage without a rule");
  }
}

// --- 6. What noise costs (certificates.md, section 4) ---------------------------------

/** A pure loss of epsilon e, `copies` of them: a response, a range, Laplace or geometric
 * noise on one number (`steps`, and the scale in steps). */
class Pure {
  constructor(kind, e, copies = 1n, steps = null, scale = null) {
    Object.assign(this, { kind, e, copies, steps, scale });
  }

  get epsilon() {
    return this.e.times(whole(this.copies));
  }

  /** The least rho that is known: selection.md, claim 4; certificates.md, section 4. */
  get rho() {
    const e = Span.of(this.e);
    const half = this.e.squared().over(TWO);
    const fall = exp(e.negated());
    const rhos = [half, e.times(SPAN_ONE.minus(fall).over(SPAN_ONE.plus(fall))).above()];
    if (this.kind === "range") rhos.push(half.over(whole(4)));
    if (this.kind === "laplace") rhos.push(e.plus(fall).minus(SPAN_ONE).above());
    if (this.kind === "geometric") rhos.push(this.geometricRho());
    return rhos.reduce(smaller).times(whole(this.copies));
  }

  geometricRho() {
    const a = exp(Span.of(ONE.over(this.scale)).negated());
    const n = Span.of(whole(this.steps));
    const power = exp(Span.of(whole(this.steps).over(this.scale)).negated());
    const shared = a.plus(a).times(SPAN_ONE.minus(power)).over(SPAN_ONE.minus(a.times(a)));
    return n.minus(shared).over(Span.of(this.scale)).above();
  }

  /** mu with Phi(mu/2) = 1/(1 + exp(-e)), of a range with half of e (claim 5). */
  get muSquared() {
    const exponent = this.kind === "range" ? this.e.over(TWO) : this.e;
    return muOfEpsilon(exponent).squared().times(whole(this.copies));
  }
}

/** A mu at or above the one with Phi(mu/2) = 1/(1 + exp(-e)). */
function muOfEpsilon(e) {
  // Phi(-x) <= exp(-x^2 / 2) / 2: enough where 1 / (1 + exp(-e)) is hardly told from 1
  if (whole(80).below(e)) return rootAbove(e.times(whole(8)));
  const fall = exp(Span.of(e).negated());
  const target = SPAN_ONE.over(SPAN_ONE.plus(fall)).high;
  // Newton's steps from below: Phi is concave above 0, so they never pass the root
  let x = 0n;
  for (let step = UNIT; step > 1n << 60n;) {
    const half = new Span((x * x) >> (BITS + 1n), ((x * x) >> (BITS + 1n)) + 1n);
    const density = exp(half.negated()).over(ROOT_OF_TWO_PI);
    step = ((target - normalAbove(x).low) << BITS) / density.high;
    x += maximum(step, 0n);
  }
  for (let margin = 1n << 64n; normalAbove(x).low < target; margin *= 2n) x += margin;
  return new Rational(2n * x, UNIT);
}

/** What is lost: pure losses, mu^2 of Gaussian noise, chances of failure, and keys that
 * show beside Gaussian noise (cases of `keys`, at most one such release). */
class Loss {
  constructor({ pure = [], muSquared = ZERO, failure = ZERO, keys = null } = {}) {
    Object.assign(this, { pure, muSquared, failure, keys });
  }
  plus(o) {
    return new Loss({
      pure: [...this.pure, ...o.pure],
      muSquared: this.muSquared.plus(o.muSquared),
      failure: this.failure.plus(o.failure),
      keys: this.keys ?? o.keys,
    });
  }
  /** mu^2 of all keys kept, and the chance that any of all keys shows. */
  apart() {
    if (!this.keys) return this;
    const { muSquared, failure } = this.keys;
    return new Loss({ pure: this.pure, muSquared: this.muSquared.plus(muSquared), failure: this.failure.plus(failure) });
  }
  get epsilon() {
    return total(this.pure.map((each) => each.epsilon));
  }
  get hasGaussian() {
    return this.muSquared.isPositive || this.keys !== null;
  }
}

/** Noise on a vector: losses.md 5 (the worst change), queries.md, lemma 6. */
function noiseLoss(number, move) {
  const variance = readSquare(field(number, "scale"));
  const noise = readText(field(number, "noise"));
  if (noise === "gaussian") return new Loss({ muSquared: move.squares.over(variance) });
  need(move.l1 !== null, "a number that needs Gaussian noise");
  if (noise === "laplace") {
    const pure = worstChange(move.l1, move.largest, move.entries)
      .map(([size, copies]) => new Pure("laplace", rootAbove(size.squared().over(variance)), copies));
    return new Loss({ pure });
  }
  need(noise === "geometric", "noise without a rule");
  const scale = rootAbove(variance);
  need(scale.squared().compare(variance) === 0, "geometric noise of an irrational scale");
  // the noise is of whole numbers: halves would show through it
  need(isWhole(number), "geometric noise on what is not whole");
  const pure = worstChange(whole(move.l1.floor()), whole(move.largest.floor()), move.entries)
    .map(([size, copies]) => new Pure("geometric", size.over(scale), copies, size.top, scale));
  return new Loss({ pure });
}

function isWhole(number) {
  if (number.get("of") === "running") {
    const later = readList(field(number, "factors")).slice(1);
    return later.every((factor) => readWhole(factor, 0n, 256n) === 0n) && isWhole(field(number, "base"));
  }
  return number.get("of") !== "centred" && (optional(number, "exponent") ?? 0n) >= 0n;
}

/** As many entries of the largest size as fit, and the rest. */
function worstChange(sum, largest, entries) {
  if (sum.isZero || largest.isZero) return [];
  const full = minimum(entries, sum.over(largest).floor());
  const rest = sum.minus(largest.times(whole(full)));
  const change = full > 0n ? [[largest, full]] : [];
  return full < entries && rest.isPositive ? [...change, [rest, 1n]] : change;
}

/** P[Z >= far] of the noise of a number that shows keys (thresholds.md 1). */
function chanceToPass(number, far, linf) {
  const variance = readSquare(field(number, "scale"));
  switch (readText(field(number, "noise"))) {
    case "gaussian": {
      const root = rootAbove(far.squared().over(variance));
      // P[N >= x] falls with x: the root is taken below for x > 0
      const x = far.isPositive ? root.minus(ratio(1n, 1n << 120n)) : root.times(whole(-1));
      return normal(Span.of(x).negated()).above();
    }
    case "geometric": {
      const steps = far.ceil();
      const scale = rootAbove(variance);
      const q = exp(Span.of(ONE.over(scale)).negated());
      const tail = (x) => exp(Span.of(whole(x).over(scale)).negated()).over(SPAN_ONE.plus(q));
      return (steps > 0n ? tail(steps) : SPAN_ONE.minus(tail(1n - steps))).above();
    }
    case "laplace": {
      const numbers = BigInt(readList(field(number, "totals")).length);
      const scale = rootAbove(variance);
      if (numbers === 1n) return laplaceSumTail(1n, far.over(scale));
      // lemma 4 of moments.md: numbers are told as doubles and added up
      const told = far.minus(linf.times(powerOfTwo(-49n))).minus(scale.times(powerOfTwo(-20n)));
      return laplaceSumTail(numbers, told.over(scale)).plus(exp(Span.of(whole(-(2n ** 27n)))).above());
    }
    default:
      throw new Refused("noise without a rule");
  }
}

/** P[L_1 + ... + L_s >= t] of Laplace noises of scale 1: moments.md, section 2. */
function laplaceSumTail(s, t) {
  if (t.below(ZERO)) return s === 1n ? SPAN_ONE.minus(Span.of(laplaceSumTail(1n, t.times(whole(-1))))).above().plus(powerOfTwo(-300n)) : ONE;
  let sum = ZERO;
  for (let j = 0n; j < s; j += 1n) {
    let c = ZERO;
    for (let i = 0n; i < s - j; i += 1n) c = c.plus(ratio(choose(s - 1n + i, i), 2n ** (s + i)));
    let power = ONE;
    for (let k = 1n; k <= j; k += 1n) power = power.times(t).over(whole(k));
    sum = sum.plus(power.times(c));
  }
  return exp(Span.of(t).negated()).times(Span.of(sum)).above();
}

function choose(n, k) {
  let result = 1n;
  for (let i = 1n; i <= k; i += 1n) result = (result * (n - k + i)) / i;
  return result;
}

// --- 7. Releases ----------------------------------------------------------------------

class Release {
  constructor(words, plan) {
    this.words = words;
    this.plan = plan;
    this.rows = plan.rows(field(words, "rows"));
    need(!this.rows.isPublic, "public rows");
    const by = readNames(field(words, "by"));
    const unknown = readNames(field(words, "unknown"));
    this.by = this.rows.versions(by);
    this.unknown = this.rows.versions(unknown);
    need(isWithin(this.unknown, this.by), "unknown keys that are no groups");
    this.shows = ["presence", "rounds", "first", "margins"].filter((name) => optional(words, name) !== null);
    need(this.shows.length <= 1, "keys that are shown twice");
    const known = optional(words, "known");
    this.known = known === null || unknown.length > 0 ? null : readWhole(known, 1n);
    const [how] = this.shows;
    need(unknown.length === 0 || how === "presence" || how === "rounds" || how === "first", "keys that nothing shows");
    need(unknown.length > 0 || (how !== "presence" && how !== "rounds"), "keys that are known and shown");
    need(unknown.length > 0 || by.length === 0 || this.known !== null || how === "margins", "groups that nobody knows");
    // an answer over unknown keys costs one row as much as m (filters.md, lemma 6)
    this.isByRow = Boolean(this.rows.part?.one) && unknown.length === 0 && how !== "first";
    this.share = this.rows.part && !this.isByRow ? whole(this.rows.part.rows) : ONE;
  }

  groups(rows = this.rows) {
    return new Groups(rows, this.by, this.known, this.isByRow);
  }

  loss() {
    const [how] = this.shows;
    let rows = this.rows;
    if (how === "first") { // of the groups chosen alone: first-few.md, theorem 3
      rows = rows.tighten({ groups: [[this.by, readWhole(field(this.words.get("first"), "most"), 1n)]] });
    }
    const groups = this.groups(rows);
    const numbers = readList(field(this.words, "measurements"));
    const moved = numbers.map((number) => [number, moveOf(number, groups)]);
    const told = moved.map(([number, move]) => ({ loss: noiseLoss(number, move), atOneKey: this.atOneKey(number, move, groups) }));
    const others = [
      ...readList(optional(this.words, "choices") ?? []).map((choice) => choiceLoss(choice, groups)),
      ...readList(optional(this.words, "coverage") ?? []).map((count) =>
        noiseLoss(count, coverageMove(count, this.rows, this.plan, this.isByRow))),
    ];
    return others.reduce((sum, each) => sum.plus(each), this.keysLoss(how, told));
  }

  keysLoss(how, told) {
    const sum = told.reduce((all, each) => all.plus(each.loss), new Loss());
    if (how === undefined) return sum;
    const words = this.words.get(how);
    if (how === "margins") return sum.plus(new Loss({ muSquared: marginsCost(words, this.groups()) }));
    if (how === "first") return sum.plus(this.firstLoss(words));
    if (how === "rounds") return this.roundsLoss(words, told);
    return this.presenceLoss(words, told, sum);
  }

  /** mu^2 of a number at one key: all that it moves, where a key has many groups. */
  atOneKey(number, move, groups) {
    if (number.get("noise") !== "gaussian") return ZERO;
    const all = move.squares.over(readSquare(field(number, "scale")));
    const isOfOneKey = this.unknown.size === this.by.size && number.get("of") !== "running";
    if (!isOfOneKey) return all;
    let { largest } = move;
    if (number.get("of") === "bins") { // the ranges of one key together
      largest = groups.rowMove().largest.times(stepOf(number));
    }
    return smaller(all, largest.squared().over(readSquare(field(number, "scale"))));
  }

  /** mu^2 of what is told of so many keys that both databases have. */
  muOfKept(told, keys) {
    return total(told.map(({ loss, atOneKey }) => smaller(loss.muSquared, atOneKey.times(whole(keys)))));
  }

  /** Keys that are shown by a number: thresholds.md 2 and queries.md, lemma 8. */
  presenceLoss(words, told, sum) {
    const groups = this.groups().at(this.unknown);
    need(["sum", "distinct", "together"].includes(field(words, "of")), "a number that shows no keys");
    const move = moveOf(words, groups);
    const keys = move.entries < groups.touched ? move.entries : groups.touched;
    const far = readRational(field(words, "threshold")).minus(move.largest);
    const p = chanceToPass(words, far, move.largest);
    const loss = noiseLoss(words, move);
    if (!loss.hasGaussian && !sum.hasGaussian) {
      return sum.plus(loss).plus(new Loss({ failure: chanceOfAny(p, keys) }));
    }
    need(words.get("noise") === "gaussian", "two families of noise where keys show");
    const own = { loss, atOneKey: move.largest.squared().over(readSquare(field(words, "scale"))) };
    const parts = told.map((each) => (this.unknown.size === this.by.size
      ? each : { ...each, atOneKey: each.loss.muSquared }));
    const kept = (m) => (m === 0n ? ZERO : this.muOfKept([own, ...parts], m));
    const cases = splits(keys).map(([first, last]) => ({
      // of a block the most new keys, the most common ones, and the most that vanish
      muSquared: kept(keys - first),
      mine: chanceOfAny(p, last),
      other: chanceOfAny(p, keys - first),
    }));
    const pure = told.flatMap((each) => each.loss.pure);
    return new Loss({ pure, keys: { muSquared: kept(keys), failure: chanceOfAny(p, keys), delta: deltaOfPresence(cases) } });
  }

  /** Keys that are shown in rounds by weights: keys.md, lemma 1. */
  roundsLoss(words, told) {
    need(this.rows.id !== null, "weights of what has no id");
    const keys = this.groups().at(this.unknown).touched;
    need(keys > 0n, "no keys at all");
    const variances = readList(field(words, "variances")).map((v) => readRational(v));
    const thresholds = readList(field(words, "thresholds")).map((t) => readRational(t));
    need(variances.length > 0 && variances.length <= 100 && variances.length === thresholds.length, "rounds without a threshold");
    need(variances.every((v) => v.isPositive), "a variance that is not above zero");
    const information = total(variances.map((v) => ONE.over(v)));
    const kept = (c) => {
      if (c === 0n) return ZERO;
      return this.muOfKept(told, c);
    };
    // Q of t own keys, with the weight 2^-20 floor(2^20 / sqrt(least t)) in all rounds
    const shownBy = (t, weight) => {
      let missed = SPAN_ONE;
      for (const [place, variance] of variances.entries()) {
        const own = ratio(wholeRoot(2n ** 40n / weight), 2n ** 20n);
        const x = Span.of(thresholds[place].minus(own)).over(sqrt(Span.of(variance)));
        missed = missed.times(normal(x));
      }
      return chanceOfAny(ONE.minus(missed.below()), t);
    };
    const cases = splits(keys).map(([first, last]) => {
      const c = keys - first;
      const share = ratio(c, keys);
      return {
        muSquared: information.times(share).plus(kept(c)),
        shown: last === 0n ? ZERO : shownBy(last, maximum(first, 1n)),
      };
    });
    const failure = cases.map((each) => each.shown).reduce(larger);
    const pure = told.flatMap((each) => each.loss.pure);
    return new Loss({ pure, keys: { muSquared: information.plus(kept(keys)), failure, delta: deltaOfRounds(cases) } });
  }

  /** The first few: `most` ranges, and an end that unknown keys may pass (first-few.md). */
  firstLoss(words) {
    need(["sum", "distinct"].includes(field(words, "of")), "a score without a rule");
    const groups = this.groups();
    const most = readWhole(field(words, "most"), 1n, 10_000n);
    need(optional(words, "exponent") === null, "a score that is not in steps");
    // the most that a unit moves one group
    const { largest } = moveOf(words, this.groups(this.rows.tighten({ groups: [[this.by, 1n]] })));
    const rate = readRational(field(words, "rate"));
    need(rate.isPositive, "a rate that is not above zero");
    let width = largest.times(TWO);
    if (this.rows.id === null) {
      width = smaller(width, moveOf(words, groups).l1);
    } else if (words.get("of") === "distinct" || totalRange(readTotals(words, 1)[0]).hasOneSign) {
      width = largest; // ids only come or only go, and scores of one sign change one way
    }
    const pure = [new Pure("range", rate.times(width), most)];
    if (this.unknown.size === 0) return new Loss({ pure });
    need(this.unknown.size === this.by.size, "keys that are known in part");
    const beyond = readRational(field(words, "end")).minus(largest);
    const far = Span.of(beyond.times(rate));
    const chance = beyond.isPositive ? exp(far.negated()).above() : ONE;
    return new Loss({ pure, failure: smaller(ONE, chance.times(whole(most * groups.touched))) });
  }
}

/** Numbers of new keys, in blocks [first, last]: each by itself up to 256. */
function splits(keys) {
  const blocks = [];
  for (let first = 0n; first <= keys;) {
    const last = first < 256n ? first : minimum(first + first / 64n, keys - 1n);
    blocks.push([first, maximum(first, last)]);
    first = maximum(first, last) + 1n;
  }
  return blocks;
}

/** delta <= D_j + (1 - D_j) delta_A(e + ln(1 - D_i) - ln(1 - D_j)): thresholds.md 4. */
const deltaOfPresence = (cases) => (besideMuSquared, e) => cases.map(({ muSquared, mine, other }) => {
  if (mine.compare(ONE) === 0 || other.compare(ONE) === 0) return UNIT;
  const stay = Span.of(ONE.minus(mine));
  const shift = ln(Span.of(ONE.minus(other))).minus(ln(stay));
  const delta = gaussianDelta(muSquared.plus(besideMuSquared), e.plus(shift));
  return Span.of(mine).plus(stay.times(delta)).high;
}).reduce(maximum);

/** 1 - Q + Q D(e - ln Q, m) and D(e + ln Q, m): keys.md, lemma 1. */
const deltaOfRounds = (cases) => (besideMuSquared, e) => cases.flatMap(({ muSquared, shown }) => {
  if (shown.compare(ONE) === 0) return [UNIT];
  const mu = muSquared.plus(besideMuSquared);
  const q = Span.of(ONE.minus(shown));
  const lnQ = ln(q);
  const withUnit = Span.of(shown).plus(q.times(gaussianDelta(mu, e.minus(lnQ))));
  return [withUnit.high, gaussianDelta(mu, e.plus(lnQ)).high];
}).reduce(maximum);

/** Quantiles and walks: queries.md, lemma 9; selection.md, claims 4 to 7. */
function choiceLoss(choice, groups) {
  const rate = readSquare(field(choice, "rate"));
  const move = groups.rowMove();
  const epsilon = rootAbove(rate.times(move.l1.squared()));
  switch (readText(field(choice, "kind"))) {
    case "quantiles": {
      const levels = readWhole(field(choice, "levels"), 1n, 64n);
      const answers = readWhole(field(choice, "answers"), 1n, 2n ** 32n);
      need(levels >= BigInt(answers.toString(2).length), "fewer levels than answers need");
      return standing(choice, answers, move).reduce((sum, each) => sum.plus(each), rangesLoss(rate, levels, move));
    }
    case "walk":
      return new Loss({ pure: [new Choice("response", epsilon, 1n, rate.times(move.squares).over(TWO))] });
    default:
      throw new Refused("a choice without a rule");
  }
}

function rangesLoss(rate, levels, move) {
  const epsilon = rootAbove(rate.times(move.l1.squared()));
  return new Loss({ pure: [new Choice("range", epsilon.over(whole(levels)), levels, rate.times(move.squares).over(whole(8n * levels)))] });
}

/** Ends around quantiles, and rows between all cuts: selection.md, claims 8 and 9. */
function standing(choice, answers, move) {
  const losses = [];
  const ends = optional(choice, "ends");
  if (ends !== null) {
    const levels = readWhole(field(ends, "levels"), answers > 1n ? 2n : 1n, 64n);
    losses.push(rangesLoss(readSquare(field(ends, "rate")), levels, move));
  }
  const cells = optional(choice, "cells");
  if (cells !== null) {
    need(["laplace", "gaussian"].includes(readText(field(cells, "noise"))), "noise on shares of rows");
    losses.push(noiseLoss(cells, move));
  }
  return losses;
}

/** A choice in several groups has a rho of its own, by the squares of its rows. */
class Choice extends Pure {
  constructor(kind, e, copies, ownRho) {
    super(kind, e, copies);
    this.ownRho = ownRho;
  }
  get rho() {
    return smaller(super.rho, this.ownRho);
  }
}

const MOST_CHILDREN = 2n ** 40n;

/** Ways in which two cells part, times parts, that are tried. */
const MOST_CASES = 4096;

/** Of each tree the last level that two different cells have in common: all ways. */
function partings(trees) {
  const ways = trees.map((tree) => [...tree.keys()].filter((level) => tree[level].most > 1n).concat(tree.length));
  const all = ways.reduce((known, levels) => known.flatMap((some) => levels.map((level) => [...some, level])), [[]]);
  return all.filter((levels) => levels.some((level, i) => level < trees[i].length));
}

/** The most of what a part adds to two rows in cells that part so; below zero where it takes away. */
function addedTogether(trees, parted, { levels, precision }) {
  let [low, high, isOdd] = [precision, precision, false];
  for (const [i, level] of levels.entries()) {
    if (level === 0) continue;
    if (level > parted[i] + 1) return ZERO;
    const { most, fewest } = trees[i][level - 1];
    if (level === parted[i] + 1) {
      [low, high, isOdd] = [low.over(whole(most)), high.over(whole(fewest)), !isOdd];
    } else {
      high = high.times(ONE.minus(ratio(1n, most)));
      low = level === 1 ? low.times(ONE.minus(ratio(1n, fewest))) : ZERO; // deeper a node may be an only child
    }
  }
  return isOdd ? ZERO.minus(low) : high;
}

/** What two rows have in common in cells that part so, where nodes have the most children. */
function sharedAtMost(trees, parted, { levels, precision }) {
  return levels.reduce((product, level, i) => {
    if (level === 0) return product;
    if (level > parted[i] + 1) return ZERO;
    const share = ratio(1n, trees[i][level - 1].most);
    return product.times(level === parted[i] + 1 ? ZERO.minus(share) : ONE.minus(share));
  }, precision);
}

/** mu^2 = (G - H) l2^2 + H l1^2, and less where rows come together or take the place of
 * others: margins.md, lemmas 2 to 4. */
function marginsCost(words, groups) {
  const { rows } = groups;
  const move = rows.part === null ? groups.countMove() : groups.rowMove();
  const trees = readList(field(words, "trees")).map((tree) => readList(tree).map((level) => {
    need(readList(level).length === 2, "not a level of a tree");
    const [most, fewest] = level.map((n) => readWhole(n, 1n, MOST_CHILDREN));
    need(fewest <= most && (fewest >= 2n || most === 1n), "a level with other children");
    return { own: ONE.minus(ratio(1n, most)), siblings: ratio(1n, fewest), most, fewest };
  }));
  need(trees.length > 0 && trees.every((tree) => tree.length > 0), "no trees");
  const own = (tree, level) => (level === 0 ? ONE : tree[level - 1].own);
  // another cell parts from this one in this tree
  const parted = (tree, level) => (level === tree.length ? tree[level - 1].siblings : own(tree, level));
  let g = ZERO;
  const parts = [];
  const h = trees.map(() => ZERO);
  for (const entry of readList(field(words, "precisions"))) {
    need(readList(entry).length === 2, "not a precision");
    const levels = readList(entry[0]).map((level) => Number(readWhole(level, 0n, 1000n)));
    need(levels.length === trees.length && levels.every((l, i) => l <= trees[i].length), "levels of other trees");
    const precision = readRational(entry[1]);
    need(precision.isPositive, "a precision that is not above zero");
    parts.push({ levels, precision });
    const factors = trees.map((tree, i) => own(tree, levels[i]));
    const multiplied = (numbers) => numbers.reduce((a, b) => a.times(b), precision);
    g = g.plus(multiplied(factors));
    for (const [i, tree] of trees.entries()) {
      h[i] = h[i].plus(multiplied(factors.map((factor, j) => (j === i ? parted(tree, levels[i]) : factor))));
    }
  }
  const cost = (extra) => g.minus(extra).times(move.squares).plus(extra.times(move.l1.squared()));
  const shared = smaller(g, h.reduce(larger));
  const isFew = trees.reduce((many, tree) => many * (tree.length + 1), parts.length) <= MOST_CASES;
  if (rows.part !== null || !isFew) return cost(shared);
  const ways = partings(trees);
  const over = (rule) => ways.map((parted) => total(parts.map((part) => rule(trees, parted, part))));
  if (rows.id !== null) return cost(smaller(shared, over(addedTogether).reduce(larger, ZERO)));
  if (rows.each === null) return cost(shared);
  const apart = over(sharedAtMost).map((common) => g.minus(common).times(TWO)).reduce(larger, g);
  return smaller(cost(shared), apart.times(whole(rows.each * rows.each)));
}

// --- 8. What a charge admits ----------------------------------------------------------

const CHARGES = ["delta,epsilon", "epsilon", "rho", "delta,rho", "mu_squared", "delta,mu_squared", "delta,epsilon,rho"];

/** What a limit adds up; null is "inf": what is not known. */
function readCharge(words) {
  need(words instanceof Map && CHARGES.includes([...words.keys()].sort().join()), "another kind of charge");
  need([...words].some(([name, amount]) => name !== "delta" && amount !== "inf"), "an infinite charge");
  return new Map([...words].map(([name, amount]) => {
    if (amount === "inf" && name !== "delta") return [name, null];
    const read = readRational(amount);
    need(ZERO.atMost(read), "a charge below zero");
    return [name, read];
  }));
}

function needEnough(lost, charged, name) {
  need(charged === null || lost.atMost(charged), `${name} ${shown(lost)} is lost, and ${charged && shown(charged)} is charged`);
}

function shown(number) {
  return String(Number((number.top * 10n ** 40n) / number.bottom) / 1e40);
}

/** Refuse a charge that is less than what is lost; say by which rule it is enough. */
function admit(loss, charge, isByRow) {
  if (charge.size === 2 && charge.has("epsilon")) return admitEpsilonDelta(loss, charge.get("epsilon"), charge.get("delta"), isByRow);
  const { pure, muSquared, failure } = loss.apart();
  for (const [name, charged] of charge) {
    if (charged === null) continue;
    switch (name) {
      case "epsilon": // beside a rho and a delta: of the same event of failure, so no curve
        need(!muSquared.isPositive, "no epsilon holds of Gaussian noise");
        needEnough(loss.epsilon, charged, name);
        break;
      case "rho":
        needEnough(total(pure.map((each) => each.rho)).plus(muSquared.over(TWO)), charged, name);
        break;
      case "mu_squared":
        needEnough(total(pure.map((each) => each.muSquared)).plus(muSquared), charged, name);
        break;
      default:
        needEnough(failure, charged, name);
    }
  }
  if (!charge.has("delta")) needEnough(failure, ZERO, "delta");
  return `sums of ${[...charge.keys()].join(", ")}`;
}

function admitEpsilonDelta(loss, epsilon, delta, isByRow) {
  if (epsilon === null || delta === null) {
    throw new Refused("a charge that is not known");
  }
  if (!loss.hasGaussian && loss.epsilon.atMost(epsilon)) {
    if (loss.failure.atMost(delta)) return "sums of epsilons and deltas";
  }
  const left = epsilon.minus(loss.epsilon);
  if (loss.hasGaussian && ZERO.atMost(left)) {
    const { muSquared } = loss.apart();
    need(!isByRow || muSquared.atMost(left.times(TWO)), "too much Gaussian noise for rows that are charged one by one");
    const found = deltaBeside(loss, Span.of(left));
    if (found.atMost(delta)) return "the curve of the Gaussian noise";
    need(loss.pure.length > 0, `delta ${shown(found)} is lost, and ${shown(delta)} is charged`);
  }
  need(!isByRow, "rows that are charged one by one have no composed curve");
  return admitComposed(loss, epsilon, delta);
}

/** delta of Gaussian noise at an epsilon, failures first (filters.md, lemma 2). */
function deltaBeside(loss, e) {
  const failure = smaller(ONE, loss.failure);
  const rest = loss.keys ? loss.keys.delta(loss.muSquared, e) : gaussianDelta(loss.muSquared, e).high;
  return failure.plus(ONE.minus(failure).times(new Rational(rest, UNIT)));
}

// --- 9. Composed curves (certificates.md, section 5) ----------------------------------

const MOST_LAWS = 10_000n;
const MOST_STEPS = 4096n;
const GRIDS = [128n, 512n, 2048n];
const MASS_BITS = 160n;
const MASS_UNIT = 1n << MASS_BITS;

/** All failures first; what is left is asked of the pairs of the pure losses and the
 * Gaussian noise together, on three grids, each four times as fine as the last. */
function admitComposed(loss, epsilon, delta) {
  const { pure, muSquared, failure } = loss.apart();
  const laws = pure.filter((each) => each.epsilon.isPositive);
  const copies = laws.reduce((sum, each) => sum + each.copies, 0n);
  need(copies > 0n && copies <= MOST_LAWS, "no laws, or too many to compose");
  need(failure.below(delta) && failure.below(ONE), `delta ${shown(failure)} is lost, and ${shown(delta)} is charged`);
  const enough = delta.minus(failure).over(ONE.minus(failure));
  const largest = laws.map((each) => each.e).reduce(larger);
  const together = total(laws.map((each) => each.epsilon));
  let best = ONE;
  for (const points of GRIDS) {
    const parts = largest.times(whole(points)).over(together).plus(ratio(1n, 2n)).floor();
    const grid = new LossGrid(largest.over(whole(maximum(1n, parts))));
    const masses = laws.map((law) => powerOfMasses(grid.massesOf(law), law.copies)).reduce(multiplyMasses);
    best = smaller(best, grid.deltaOf(masses, muSquared, epsilon));
    if (best.atMost(enough)) return "a composed curve";
  }
  throw new Refused(`delta ${shown(failure.plus(ONE.minus(failure).times(best)))} is lost, and ${shown(delta)} is charged`);
}

/** Losses at the multiples of a step. */
class LossGrid {
  constructor(step) {
    this.step = step;
    this.rise = exp(Span.of(step.over(TWO)));
    this.halves = [SPAN_ONE]; // exp of half a loss
    this.falls = [SPAN_ONE]; // exp of a loss below zero
  }

  exponentOfHalf(i) {
    while (this.halves.length <= i) this.halves.push(this.halves[this.halves.length - 1].times(this.rise));
    return this.halves[i];
  }

  /** exp of the loss at any place. */
  exponent(i) {
    if (i >= 0) return this.exponentOfHalf(2 * i);
    while (this.falls.length <= -i) this.falls.push(SPAN_ONE.over(this.exponentOfHalf(2 * this.falls.length)));
    return this.falls[-i];
  }

  /** A pair on the grid that dominates a law: delta is convex in t = exp(loss), so the
   * chords lie above it; masses are their second differences, times t, rounded up. */
  massesOf(law) {
    const n = Number(law.e.over(this.step).ceil());
    const curve = curveOf(law);
    const value = new Map();
    for (let i = 0; i <= n + 1; i += 1) {
      const isInside = this.step.times(whole(i)).below(law.e);
      const delta = isInside ? curve(this.exponent(i), this.exponentOfHalf(i)).within(0n, UNIT) : SPAN_ZERO;
      value.set(i, delta);
      // both directions are alike: delta at a loss below zero is 1 - t + t delta(-loss)
      const t = this.exponent(-i);
      if (i > 0) value.set(-i, SPAN_ONE.minus(t).plus(t.times(delta)));
    }
    const slope = (i) => value.get(i).minus(value.get(i + 1)).over(this.exponent(i + 1).minus(this.exponent(i)));
    const masses = [];
    let before = slope(-n - 1);
    for (let i = -n; i <= n; i += 1) {
      const after = slope(i);
      const mass = before.minus(after).times(this.exponent(i)).within(0n, UNIT);
      masses.push(-(-mass.high >> (BITS - MASS_BITS)));
      before = after;
    }
    return { first: -n, masses };
  }

  /** The sum of masses times the Gaussian's delta at what is left of epsilon. */
  deltaOf({ first, masses }, muSquared, epsilon) {
    const left = exp(Span.of(epsilon));
    const t = (place) => left.times(this.exponent(-(first + place)));
    const deltaAt = muSquared.isZero
      ? (place) => SPAN_ONE.minus(t(place)).within(0n, UNIT).high
      : this.chordsOf(masses.length - 1, t, (place) =>
        gaussianDelta(muSquared, Span.of(epsilon.minus(this.step.times(whole(first + place))))).high);
    let sum = 0n;
    for (const [place, mass] of masses.entries()) sum += mass * deltaAt(place);
    return smaller(ONE, new Rational(sum, UNIT << MASS_BITS));
  }

  /** delta at some places, and between them on chords, which lie above it. */
  chordsOf(last, t, delta) {
    const stride = Math.max(1, Math.floor(last / 128));
    const known = new Map();
    const at = (place) => {
      if (!known.has(place)) known.set(place, delta(place));
      return known.get(place);
    };
    return (place) => {
      const start = place - (place % stride);
      const end = Math.min(last, start + stride);
      if (place === start || end === start) return at(place);
      const part = t(place).minus(t(end)).over(t(start).minus(t(end))).within(0n, UNIT);
      // of two deltas the one at the larger loss is larger
      return at(end) - ((maximum(0n, at(end) - at(start)) * part.low) >> BITS);
    };
  }
}

/** delta of one law by exp(loss) and its root, for losses from 0 to e. */
function curveOf({ kind, e, steps, scale }) {
  const end = exp(Span.of(e));
  const root = exp(Span.of(e.over(TWO)));
  if (kind === "laplace") return (_, half) => SPAN_ONE.minus(half.over(root));
  if (kind === "range") {
    const under = SPAN_ONE.minus(SPAN_ONE.over(end));
    return (_, half) => {
      const part = SPAN_ONE.minus(half.over(root));
      return part.times(part).over(under);
    };
  }
  // any pure loss has no more than randomized response
  if (kind !== "geometric" || steps > MOST_STEPS) return (t) => end.minus(t).over(end.plus(SPAN_ONE));
  const q = exp(Span.of(ONE.over(scale)).negated());
  const later = SPAN_ONE.minus(q).over(SPAN_ONE.plus(q));
  const atoms = [];
  let power = SPAN_ONE;
  for (let k = 0n; k < steps; k += 1n) { // losses (steps - 2 k) / scale
    const mass = k === 0n ? SPAN_ONE.over(SPAN_ONE.plus(q)) : later.times(power);
    atoms.push([mass, exp(Span.of(whole(2n * k - steps).over(scale)))]);
    power = power.times(q);
  }
  return (t) => {
    let sum = SPAN_ZERO;
    for (const [mass, fall] of atoms) {
      const gain = SPAN_ONE.minus(t.times(fall));
      if (gain.high <= 0n) break;
      sum = sum.plus(mass.times(gain.within(0n, UNIT)));
    }
    return sum;
  };
}

/** The masses of two independent pairs: one product of long numbers, in slots. */
function multiplyMasses(a, b) {
  const digits = Number(2n * MASS_BITS) / 4 + 4;
  const pack = (masses) => BigInt(`0x${masses.map((mass) => mass.toString(16).padStart(digits, "0")).join("")}`);
  const count = a.masses.length + b.masses.length - 1;
  const written = (pack(a.masses) * pack(b.masses)).toString(16).padStart(digits * count, "0");
  need(written.length === digits * count, "a product that does not fit");
  const masses = Array.from({ length: count }, (_, k) =>
    -(-BigInt(`0x${written.slice(k * digits, (k + 1) * digits)}`) >> MASS_BITS));
  return { first: a.first + b.first, masses };
}

function powerOfMasses(masses, copies) {
  let product = { first: 0, masses: [MASS_UNIT] };
  for (let [power, left] = [masses, copies]; left > 0n;) {
    if (left & 1n) product = multiplyMasses(product, power);
    left >>= 1n;
    if (left > 0n) power = multiplyMasses(power, power);
  }
  return product;
}

// --- 10. Blocks (queries.md, section 11) ----------------------------------------------

// A cover: blocks without which some rows are the same; `marks` are columns that tell the
// block of a row, `ids` those that tell the person. It is `gated` once rows of no open
// block are left out.

const WHOLE_TABLE = "*";

function checkBlocks(words, releases, plan) {
  const layouts = new Map();
  for (const [name, layout] of field(words, "tables")) {
    if (layout !== null) layouts.set(name, readLayout(layout));
  }
  const charged = new Set(readNames(field(words, "charged")));
  for (const release of releases) {
    const counts = readList(optional(release.words, "coverage") ?? []).filter((count) => count.has("rows"));
    for (const node of [release.words, ...counts].map((part) => field(part, "rows"))) {
      const covers = coversOf(node, layouts, plan.tables);
      need(covers.length === 0 || isWithin(bestCover(covers).blocks, charged), "a block that is read and not charged");
    }
  }
}

/** The column of blocks, and the first and the last value of each open block. */
function readLayout(layout) {
  const ends = readList(field(layout, "ends")).map((end) => {
    need(readList(end).length === 3, "not the ends of a block");
    return [readText(end[0]), readValue(end[1]), readValue(end[2])];
  });
  return { column: readText(field(layout, "column")), ends: new Map(ends.map(([name, ...both]) => [name, both])) };
}

/** The smallest cover, and one without rows of tables that have no blocks if there is. */
function bestCover(covers) {
  const size = ({ blocks }) => (blocks.has(WHOLE_TABLE) ? 2 ** 32 : 0) + blocks.size;
  const best = covers.reduce((a, b) => (size(b) < size(a) ? b : a));
  need(best.isGated, "rows of blocks that are not open");
  return best;
}

/** A cover under new names of columns: pairs of new and old. */
function renamed(cover, pairs) {
  const kept = (names) => new Set(pairs.filter(([, old]) => names.has(old)).map(([name]) => name));
  return { ...cover, marks: kept(cover.marks), ids: kept(cover.ids) };
}

function keptColumns(cover, isKept) {
  return renamed(cover, [...cover.marks, ...cover.ids].filter(isKept).map((name) => [name, name]));
}

function coversOf(node, layouts, tables) {
  const below = (name) => coversOf(field(node, name), layouts, tables);
  const eachBelow = (rule) => below("of").map(rule);
  // rows of one block may push out those of another, of anybody, unless kept by id
  const keptBy = (per) => (cover) => (per.some((name) => cover.ids.has(name)) ? cover : keptColumns(cover, () => false));
  switch (field(node, "do")) {
    case "public":
      return [];
    case "table":
    case "unreadable":
      return [tableCover(node, layouts, tables)];
    case "filter":
    case "part":
      return eachBelow((cover) => narrowed(cover, optional(node, "condition")));
    case "project": {
      const carried = [...field(node, "columns")].filter(([, made]) => made.has("is"));
      return eachBelow((cover) => renamed(cover, carried.map(([name, made]) => [name, made.get("is")])));
    }
    case "map":
    case "flat_map":
    case "explode": {
      const made = readNames(field(node, "makes"));
      return eachBelow((cover) => keptColumns(cover, (name) => !made.includes(name)));
    }
    case "keep_rows":
    case "keep_groups":
    case "keep_unique":
      return eachBelow(keptBy(readNames(field(node, "per"))));
    case "one_per":
    case "crowded": {
      const per = readNames(field(node, "per"));
      return eachBelow((cover) => keptColumns(keptBy(per)(cover), (name) => per.includes(name)));
    }
    case "join":
      return joinCovers(node, below("left"), below("right"));
    default:
      throw new Refused("a step without a rule");
  }
}

function tableCover(node, layouts, tables) {
  const name = field(node, "table");
  const unit = field(tables, name);
  const ids = new Set(unit.get("protects") === "AddRowsWithID" ? [unit.get("column")] : []);
  const layout = layouts.get(name);
  if (!layout) return { blocks: new Set([WHOLE_TABLE]), marks: new Set(), ids, ends: new Map(), isGated: true };
  need(readNames(field(node, "columns")).includes(layout.column), "a column of blocks that is not there");
  return { blocks: new Set(layout.ends.keys()), marks: new Set([layout.column]), ids, ends: layout.ends, isGated: false };
}

function joinCovers(node, left, right) {
  if (right.length === 0) return left;
  const on = readNames(field(node, "on"));
  const names = [...field(node, "brings")].map(([old, name]) => [name, old]).concat(on.map((name) => [name, name]));
  const theirs = right.map((cover) => renamed(cover, names));
  if (left.length && [...left, ...theirs].every((cover) => on.some((name) => cover.ids.has(name)))) {
    return node.get("outer") === true ? left : [...left, ...theirs];
  }
  const both = [left, right].filter((side) => side.length).map((side) => [...bestCover(side).blocks]);
  return [{ blocks: new Set(both.flat()), marks: new Set(), ids: new Set(), ends: new Map(), isGated: true }];
}

/** What a filter admits of each mark: copies of one cell, so that one block passes. */
function narrowed(cover, condition) {
  let { blocks, isGated } = cover;
  for (const mark of cover.marks) {
    isGated ||= isGate(condition, mark, cover.ends);
    blocks = admittedBlocks(condition, mark, new Map([...blocks].map((name) => [name, cover.ends.get(name)])));
  }
  return { ...cover, blocks, isGated };
}

/** A test of a column, or of the start of its period, against constants. */
function readTest(condition) {
  const starts = readNames(field(condition, "starts"));
  const values = readList(field(condition, "values")).map(readValue);
  const test = readText(field(condition, "test"));
  need(["==", "<", "<=", ">", ">=", "in"].includes(test) && (test === "in" || values.length === 1), "an unknown test");
  return { test, column: readText(field(condition, "column")), starts, values };
}

function readBranches(condition) {
  const name = ["and", "or"].find((each) => condition.has(each));
  return name ? [name, readList(condition.get(name))] : [null, []];
}

/** The blocks of which a row may pass: all, where a condition tells nothing. */
function admittedBlocks(condition, mark, ends) {
  const all = new Set(ends.keys());
  if (condition === null) return all;
  const [name, branches] = readBranches(condition);
  if (name !== null) {
    const [a, b, ...more] = branches.map((each) => admittedBlocks(each, mark, ends));
    need(a && b && more.length === 0, "not two conditions");
    return name === "and" ? new Set([...a].filter((block) => b.has(block))) : new Set([...a, ...b]);
  }
  const { test, column, starts, values } = readTest(condition);
  if (column !== mark || (test === "in" && values.some((value) => value.kind === "f64"))) return all;
  const passes = {
    "==": (low, high) => low <= 0 && high >= 0,
    in: (low, high) => low <= 0 && high >= 0,
    "<": (low) => low < 0,
    "<=": (low) => low <= 0,
    ">": (_, high) => high > 0,
    ">=": (_, high) => high >= 0,
  }[test];
  return new Set([...ends].filter(([, [first, last]]) => values.some((value) =>
    passes(compareValues(startOf(first, starts), value), compareValues(startOf(last, starts), value)),
  )).map(([block]) => block));
}

/** Whether nothing passes but values of open blocks: of some whole block of one value, or
 * of a run of blocks without a gap. */
function isGate(condition, mark, ends) {
  if (condition === null) return false;
  const [name, branches] = readBranches(condition);
  const opened = [...ends.values()];
  if (name === "or") return branches.length > 0 && branches.every((each) => isGate(each, mark, ends));
  if (name === "and") {
    const tests = branches.filter((each) => each !== null && each.has("test")).map(readTest);
    const isRange = tests.length === 2 && branches.length === 2 && tests[0].test === ">=" && tests[1].test === "<=";
    if (!isRange) return branches.some((each) => isGate(each, mark, ends));
    return tests.every((each) => each.column === mark && each.starts.length === 0) && isRun(tests[0].values[0], tests[1].values[0], opened);
  }
  const { test, column, starts, values } = readTest(condition);
  if (column !== mark || starts.length > 0 || (test !== "in" && test !== "==")) return false;
  const isEqual = (a, b) => a.kind === b.kind && compareValues(a, b) === 0;
  return values.every((value) => opened.some(([first, last]) => isEqual(first, value) && isEqual(last, value)));
}

/** Whether blocks that follow each other without a gap hold all from low to high. */
function isRun(low, high, opened) {
  let next = low;
  const sorted = [...opened].sort(([a], [b]) => compareValues(a, b));
  for (const [first, last] of sorted) {
    if (compareValues(first, next) > 0 || compareValues(next, last) > 0) continue;
    if (compareValues(high, last) <= 0) return true;
    if (typeof last.value !== "bigint") return false; // no value follows the next
    next = { kind: last.kind, value: last.value + 1n };
  }
  return false;
}

const DAY = 86_400_000_000n;

/** A value of a column with its kind: dates as days, times as microseconds since 1970. */
function readValue(words) {
  need(readList(words).length === 2, "not a value");
  const [kind, text] = words.map(readText);
  switch (kind) {
    case "i64": {
      const number = readRational(text);
      need(number.bottom === 1n, "not a whole number");
      return { kind, value: number.top };
    }
    case "f64": {
      const { top, bottom } = readRational(text);
      const value = Number(top) / Number(bottom);
      need(Number.isFinite(value), "not a double");
      return { kind, value };
    }
    case "text":
      return { kind, value: text };
    case "date":
      return { kind, value: daysOf(text) };
    case "time": {
      const found = /^(.{10})T(\d\d):(\d\d):(\d\d)\.(\d{6})$/.exec(text);
      need(found, "not a time");
      const [hours, minutes, seconds, micros] = found.slice(2).map(BigInt);
      need(hours < 24n && minutes < 60n && seconds < 60n, "not a time");
      return { kind, value: daysOf(found[1]) * DAY + ((hours * 60n + minutes) * 60n + seconds) * 1_000_000n + micros };
    }
    default:
      throw new Refused("a value without a kind");
  }
}

function daysOf(text) {
  need(/^\d{4}-\d\d-\d\d$/.test(text) && text >= "0001", "not a date");
  const moment = new Date(`${text}T00:00:00Z`);
  need(moment.getTime() === moment.getTime() && moment.toISOString().startsWith(text), "not a date");
  return BigInt(moment.getTime()) * 1000n / DAY;
}

function compareValues(a, b) {
  const isNumber = (x) => x.kind === "i64" || x.kind === "f64";
  need(a.kind === b.kind || (isNumber(a) && isNumber(b)), "values of two kinds");
  let [x, y] = [a.value, b.value];
  if (a.kind !== b.kind) [x, y] = [Number(x), Number(y)]; // as doubles, rounded
  if (a.kind === "text") { // by code points, not by halves of them
    [x, y] = [Array.from(x), Array.from(y)].map((letters) => letters.map((each) => each.codePointAt(0)));
    const place = x.findIndex((each, k) => each !== y[k]);
    if (place < 0) return x.length < y.length ? -1 : 0;
    return place < y.length && x[place] < y[place] ? -1 : 1;
  }
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The start of a period of a period: it grows with the moment. */
function startOf(moment, units) {
  const scale = { date: 1n, time: DAY }[moment.kind];
  need(units.length === 0 || scale, "a period of what is no moment");
  return units.reduce(({ kind, value }, unit) => {
    const clock = { second: 1_000_000n, minute: 60_000_000n, hour: 3_600_000_000n }[unit];
    if (clock) return { kind, value: kind === "time" ? floorDivide(value, clock) * clock : value };
    const days = floorDivide(value, scale);
    return { kind, value: startOfDays(days, unit) * scale };
  }, moment);
}

function startOfDays(days, unit) {
  if (unit === "day") return days;
  if (unit === "week") return floorDivide(days + 3n, 7n) * 7n - 3n; // 1970 began on a Thursday
  const date = new Date(Number(days) * 86_400_000);
  const month = { year: 0, quarter: date.getUTCMonth() - (date.getUTCMonth() % 3), month: date.getUTCMonth() }[unit];
  need(month !== undefined, "an unknown period");
  date.setUTCMonth(month, 1);
  return BigInt(date.getTime()) / 86_400_000n;
}

// --- 11. Certificates ------------------------------------------------------------------

export function check(text) {
  try {
    return checkCertificate(readJson(text));
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(`not a certificate (${error.name})`);
  }
}

function checkCertificate(certificate) {
  need(field(certificate, "certificate") === 1n, "another version of certificates");
  const charge = readCharge(field(certificate, "charge"));
  const plan = new PlanReader(field(certificate, "tables"));
  if (certificate.has("parts")) return checkParts(certificate.get("parts"), charge, plan);
  const releases = readList(field(certificate, "releases")).map((words) => new Release(words, plan));
  need(releases.length > 0, "no releases");
  // the lemma on rows that are charged one by one holds of one release
  const isByRow = releases.some((each) => each.isByRow);
  need(!isByRow || releases.length === 1, "several releases of rows that are charged one by one");
  const share = releases.map((each) => each.share).reduce(larger);
  let losses = releases.map((each) => each.loss());
  // of several cases of keys each takes its worst ends: no less than any case of all
  if (losses.filter((each) => each.keys).length > 1) losses = losses.map((each) => each.apart());
  const loss = losses.reduce((a, b) => a.plus(b));
  if (certificate.has("blocks")) checkBlocks(certificate.get("blocks"), releases, plan);
  const shared = new Map([...charge].map(([name, amount]) => [name, amount && amount.over(share)]));
  return admit(loss, shared, isByRow);
}

/** Parts of a table: times each, coordinate by coordinate (filters.md, section 7). */
function checkParts(parts, charge, plan) {
  const rows = plan.rows(field(parts, "rows"));
  need(!rows.isPublic, "parts of public rows");
  const { times } = splitParts(rows, parts);
  const each = readCharge(field(parts, "each"));
  const get = (name) => (each.has(name) ? each.get(name) : null);
  const delta = each.get("delta") ?? ZERO;
  for (const [name, charged] of charge) {
    if (charged === null) continue;
    let due = get(name);
    if (each.has(name)) {
      need(due !== null, "a budget that is not known");
      due = due.times(times);
    } else if (name === "delta") {
      due = ZERO;
    } else if (name === "rho" && get("mu_squared")) {
      due = get("mu_squared").times(times).over(TWO);
    } else {
      need(get("epsilon"), "budgets of two kinds");
      const pure = new Pure("response", get("epsilon").times(times));
      due = name === "rho" ? pure.rho : pure.muSquared;
      need(name === "rho" || name === "mu_squared", "budgets of two kinds");
    }
    needEnough(due, charged, name);
  }
  need(charge.has("delta") || delta.isZero, "budgets of two kinds");
  return "budgets of parts";
}

// --- 12. As a program -----------------------------------------------------------------

async function main(files) {
  const { readFileSync } = await import("node:fs");
  let refused = 0;
  for (const file of files) {
    const lines = readFileSync(file, "utf8").split("\n");
    if (lines[lines.length - 1] === "") lines.pop();
    for (const [place, line] of lines.entries()) {
      let verdict;
      try {
        verdict = `accepted: ${check(line)}`;
      } catch (error) {
        refused += 1;
        verdict = `refused: ${error.message}`;
      }
      process.stdout.write(`${file}:${place + 1} ${verdict}\n`);
    }
  }
  process.exitCode = refused || !files.length ? 1 : 0;
}

if (typeof process !== "undefined" && process.argv?.[1]) {
  const { pathToFileURL } = await import("node:url");
  const { realpathSync } = await import("node:fs");
  if (import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) await main(process.argv.slice(2));
}
