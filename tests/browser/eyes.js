// What can be seen of a page, asked from a world of our own: the page's scripts do not
// meet it, its policy does not bind it. Each function returns texts; none is good news.
(() => {
  const EDGE = 1;           // pixels: rounding is no overlap
  const LINE = 0.12;        // of a box of letters is air above and below
  const LEAST = 4.5, LEAST_LARGE = 3;
  const TABBED = "a[href], summary, button, input, select, textarea, [tabindex]";
  const LIVE = "script:not([type*=json]), iframe, object, embed, [href^='javascript:']";

  const short = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 60));
  const shown = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const clipped = (element) => element.closest(".vh, .skip:not(:focus)") !== null;

  function* words(root) {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const owner = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || owner.closest("title, style, script")) continue;
      if (!shown(owner) || clipped(owner)) continue;
      const range = document.createRange();
      range.selectNodeContents(walk.currentNode);
      const box = range.getBoundingClientRect();
      if (box.width > 0) yield { owner, box, text: walk.currentNode.data };
    }
  }

  const scrolls = (element) => {
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(up).overflowX)) return true;
    }
    return false;
  };

  function sideways(width) {
    const told = [];
    const whole = document.documentElement.scrollWidth;
    if (whole > width + EDGE) told.push(`the page is ${whole} pixels wide`);
    for (const { owner, box, text } of words(document.body)) {
      const outside = box.right > width + EDGE || box.left < -EDGE;
      if (outside && !scrolls(owner)) told.push(`${short(text)} lies outside`);
    }
    return told;
  }

  const inked = (box) => ({
    left: box.left, right: box.right,
    top: box.top + LINE * box.height, bottom: box.bottom - LINE * box.height,
  });
  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > EDGE &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > EDGE;

  function overlaps() {
    const told = [];
    for (const picture of document.querySelectorAll("svg")) {
      const labels = [...words(picture)].map((label) => ({ ...label, ink: inked(label.box) }));
      labels.sort((one, other) => one.ink.left - other.ink.left);
      labels.forEach((one, place) => {
        for (let next = place + 1; next < labels.length; next++) {
          if (labels[next].ink.left > one.ink.right) break;
          if (overlap(one.ink, labels[next].ink))
            told.push(`${short(one.text)} over ${short(labels[next].text)}`);
        }
      });
    }
    return told;
  }

  function cut() {
    const told = [];
    for (const picture of document.querySelectorAll("svg")) {
      if (getComputedStyle(picture).overflow === "visible") continue;
      const frame = picture.getBoundingClientRect();
      for (const { box, text } of words(picture)) {
        if (box.left < frame.left - EDGE || box.right > frame.right + EDGE)
          told.push(`${short(text)} is cut off by its picture`);
      }
    }
    return told;
  }

  const brush = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = text;
    brush.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
    return { parts: [red, green, blue], alpha: alpha / 255 };
  };
  const over = (top, below) =>
    top.parts.map((part, i) => part * top.alpha + below[i] * (1 - top.alpha));
  const light = (parts) => {
    const [red, green, blue] = parts.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (one, other) => {
    const [less, more] = [light(one), light(other)].sort((a, b) => a - b);
    return (more + 0.05) / (less + 0.05);
  };
  const faded = (element) => {
    let share = 1;
    for (let up = element; up; up = up.parentElement) share *= getComputedStyle(up).opacity;
    return share;
  };
  const paint = (element) => {
    const style = getComputedStyle(element);
    const shape = element instanceof SVGGeometryElement || element instanceof SVGTextElement;
    const found = colour(shape ? style.fill : style.backgroundColor);
    if (shape && style.fill === "none") found.alpha = 0;
    found.alpha *= (shape ? style.fillOpacity : 1) * faded(element);
    return found;
  };
  const canvas = () => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.backgroundColor = "Canvas";
    const { parts } = colour(getComputedStyle(probe).backgroundColor);
    probe.remove();
    return parts;
  };
  const ground = (stack) =>
    stack.filter((one) => !(one instanceof SVGTextContentElement)).map(paint).reverse()
      .reduce((below, top) => over(top, below), canvas());

  function faint() {
    const told = [];
    for (const { owner, box, text } of words(document.body)) {
      if (!owner.closest("svg")) continue;
      const stack = document.elementsFromPoint(
        (box.left + box.right) / 2, (box.top + box.bottom) / 2);
      const place = stack.indexOf(owner);
      if (!stack.length) continue;
      const below = ground(stack.slice(place + 1));
      const style = getComputedStyle(owner);
      const ink = colour(style.fill);
      ink.alpha *= style.fillOpacity * faded(owner);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
      const found = ratio(over(ink, below), below);
      if (found < (large ? LEAST_LARGE : LEAST))
        told.push(`${short(text)} has a contrast of ${found.toFixed(2)}`);
    }
    return told;
  }

  function figures() {
    const told = [];
    for (const one of document.querySelectorAll("svg, img, canvas, [role=img]")) {
      const box = one.getBoundingClientRect();
      if (!shown(one) || !box.width || !box.height) continue;
      if (one.closest("[aria-hidden=true]") || one.parentElement.closest("svg")) continue;
      const caption = one.closest("figure")?.querySelector("figcaption");
      told.push(one.getAttribute("aria-label") || one.getAttribute("alt") ||
        one.querySelector("title")?.textContent || caption?.textContent.trim() || "");
    }
    return told;
  }

  function live() {
    const told = [...document.querySelectorAll(LIVE)].map((one) => short(one.outerHTML));
    for (const one of document.querySelectorAll("*")) {
      for (const { name } of one.attributes) if (/^on/i.test(name)) told.push(short(one.outerHTML));
    }
    return told;
  }

  const stops = () =>
    [...document.querySelectorAll(TABBED)].filter((one) => one.tabIndex >= 0 && shown(one));

  function focused() {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return { place: stops().indexOf(one), what: short(one.outerHTML),
             seen: ringed || style.boxShadow !== "none" };
  }

  function unfold() {
    for (const one of document.querySelectorAll("details")) one.open = true;
    return Math.ceil(document.documentElement.scrollHeight);
  }

  async function judged(contrast) {
    const rules = { "color-contrast": { enabled: Boolean(contrast) } };
    const asked = { resultTypes: ["violations"], rules };
    const { violations } = await axe.run(document, asked);
    const why = (node) => node.any[0]?.message ?? node.failureSummary;
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => [id, `${short(node.html)}: ${why(node)}`]));
  }

  const read = () => document.body.innerText;
  const counted = () => stops().length;
  globalThis.eyes = {
    sideways, overlaps, cut, faint, figures, live, judged, focused, unfold, read, counted,
  };
})();
