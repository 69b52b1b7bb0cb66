"""The tables of a ledger on a PostgreSQL server, and what is written and asked there.

Who charges may execute the functions and read the tables, and change nothing else: a
record comes in only behind the head, with its own hash. Triggers keep the owner of the
tables, too, from a change by mistake (docs/ledger-format.md).

Kernel: charge.
"""

from typing import Final

TABLES: Final = """
CREATE SCHEMA sordino_ledger;
REVOKE ALL ON SCHEMA sordino_ledger FROM PUBLIC;
CREATE TABLE sordino_ledger.head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  application text NOT NULL, role text NOT NULL, format integer NOT NULL,
  number bigint NOT NULL, hash text NOT NULL
) WITH (fillfactor = 10);
CREATE TABLE sordino_ledger.records (
  number bigint PRIMARY KEY, kind text COLLATE "C" NOT NULL, previous text NOT NULL,
  hash text NOT NULL, signature text NOT NULL, body text NOT NULL
);
CREATE INDEX records_of_a_kind ON sordino_ledger.records (kind, number);
CREATE TABLE sordino_ledger.subjects (
  subject bytea NOT NULL, number bigint NOT NULL, PRIMARY KEY (subject, number)
);
CREATE TABLE sordino_ledger.pieces (
  number bigint NOT NULL, place integer NOT NULL, bytes bytea NOT NULL,
  PRIMARY KEY (number, place)
);

CREATE FUNCTION sordino_ledger.hold() RETURNS sordino_ledger.head
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT * FROM sordino_ledger.head FOR UPDATE $$;

CREATE FUNCTION sordino_ledger.append(
  bigint, text, text, text, text, text, bytea[], bytea
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  written sordino_ledger.records;
BEGIN
  IF $4 <> encode(sha256(convert_to(
    concat_ws(E'\\n', $3, $1::text, $2, $6), 'UTF8')), 'hex')
  THEN
    RAISE EXCEPTION 'a record has its own hash' USING ERRCODE = 'SL001';
  END IF;
  UPDATE sordino_ledger.head AS h SET number = $1, hash = $4
  WHERE h.number = $1 - 1 AND h.hash = $3 AND h.role IN ('ledger', 'witness');
  IF NOT FOUND THEN
    RAISE EXCEPTION 'a record follows the head' USING ERRCODE = 'SL001';
  END IF;
  INSERT INTO sordino_ledger.records VALUES ($1, $2, $3, $4, $5, $6)
  RETURNING * INTO written;
  IF written IS DISTINCT FROM ROW($1, $2, $3, $4, $5, $6)::sordino_ledger.records THEN
    RAISE EXCEPTION 'a trigger changed a record' USING ERRCODE = 'SL001';
  END IF;
  INSERT INTO sordino_ledger.subjects SELECT DISTINCT s, $1 FROM unnest($7) AS u(s);
  IF $8 IS NOT NULL THEN
    INSERT INTO sordino_ledger.pieces VALUES ($1, 0, $8);
  END IF;
END $$;

CREATE FUNCTION sordino_ledger.keep(bigint, integer, bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM sordino_ledger.records AS r
    WHERE r.number = $1 AND r.xmin = pg_current_xact_id()::xid
  ) THEN
    RAISE EXCEPTION 'pieces come with their record' USING ERRCODE = 'SL001';
  END IF;
  INSERT INTO sordino_ledger.pieces VALUES ($1, $2, $3);
END $$;

CREATE FUNCTION sordino_ledger.stay() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'a ledger is neither changed nor deleted' USING ERRCODE = 'SL002';
END $$;
CREATE FUNCTION sordino_ledger.follow() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.application <> OLD.application OR NEW.format <> OLD.format
    OR NEW.number < OLD.number
    OR (NEW.number = OLD.number AND NEW.hash <> OLD.hash)
    OR (NEW.role <> OLD.role AND (OLD.role, NEW.role)
        NOT IN (('ledger', 'moved'), ('ledger', 'backup')))
  THEN
    RAISE EXCEPTION 'a head goes forward' USING ERRCODE = 'SL002';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER stay BEFORE UPDATE OR DELETE OR TRUNCATE ON sordino_ledger.records
  FOR EACH STATEMENT EXECUTE FUNCTION sordino_ledger.stay();
CREATE TRIGGER stay BEFORE UPDATE OR DELETE OR TRUNCATE ON sordino_ledger.subjects
  FOR EACH STATEMENT EXECUTE FUNCTION sordino_ledger.stay();
CREATE TRIGGER stay BEFORE UPDATE OR DELETE OR TRUNCATE ON sordino_ledger.pieces
  FOR EACH STATEMENT EXECUTE FUNCTION sordino_ledger.stay();
CREATE TRIGGER stay BEFORE DELETE OR TRUNCATE ON sordino_ledger.head
  FOR EACH STATEMENT EXECUTE FUNCTION sordino_ledger.stay();
CREATE TRIGGER follow BEFORE UPDATE ON sordino_ledger.head
  FOR EACH ROW EXECUTE FUNCTION sordino_ledger.follow();
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA sordino_ledger FROM PUBLIC;
"""
"""Run in one transaction with the first records: all of it is there, or nothing."""
FACTS: Final = """
SELECT current_setting('synchronous_commit'),
  current_setting('synchronous_standby_names'),
  (SELECT count(*) FROM pg_catalog.pg_stat_replication)
  + (SELECT count(*) FROM pg_catalog.pg_replication_slots WHERE slot_type = 'physical'),
  pg_catalog.pg_is_in_recovery(),
  (SELECT system_identifier::text FROM pg_catalog.pg_control_system())"""
"""What a server says of itself, in the order of `ServerFacts`."""
ENDS: Final = """
SELECT h.number, (SELECT max(r.number) FROM sordino_ledger.records AS r)
FROM sordino_ledger.head AS h"""
"""The numbers of the head and of the newest record: of a whole ledger they are one."""
KINDS_THERE: Final = """
WITH RECURSIVE kinds(kind) AS (
  (SELECT kind FROM sordino_ledger.records ORDER BY kind LIMIT 1)
  UNION ALL
  SELECT (SELECT r.kind FROM sordino_ledger.records AS r WHERE r.kind > kinds.kind
          ORDER BY r.kind LIMIT 1)
  FROM kinds WHERE kinds.kind IS NOT NULL
)
SELECT kind FROM kinds WHERE kind IS NOT NULL"""
"""Each kind once, by a step of the index each: not by reading all records."""
