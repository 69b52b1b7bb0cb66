"""What others have set or made in a server changes nothing."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Final

import pytest

import sordino as sd
from sordino.engines.conformance.bounds import CASES
from sordino.engines.conformance.operations import FORMS
from sordino.engines.conformance.plans import bound_rows, explode_rows, question_of
from sordino.engines.conformance.verdicts import answer_of_form, verdict, verdicts
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres import server as server_module
from sordino.engines.postgres.session import postgres_engine
from sordino.query.nodes import Source
from tests.batches import for_each, sampled
from tests.effort import often
from tests.postgres_server import Cluster, cluster

ODD: Final = {
    "DateStyle": "'SQL, DMY'",
    "IntervalStyle": "'iso_8601'",
    "TimeZone": "'America/New_York'",
    "extra_float_digits": "-15",
    "standard_conforming_strings": "off",
    "escape_string_warning": "off",
    "backslash_quote": "off",
    "bytea_output": "'escape'",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "client_encoding": "'LATIN1'",
    "default_transaction_isolation": "'read committed'",
    "plan_cache_mode": "'force_generic_plan'",
    "constraint_exclusion": "on",
    "debug_print_plan": "on",
    "row_security": "on",
}
"""Settings that a role may have, each far from what is usual."""
PLANS: Final = {
    "one way": {"enable_hashagg": "off", "enable_hashjoin": "off", "jit": "on"},
    "another": {
        "enable_sort": "off",
        "enable_nestloop": "off",
        "enable_mergejoin": "off",
        "enable_material": "off",
        "from_collapse_limit": "1",
        "join_collapse_limit": "1",
        "geqo_threshold": "2",
        "jit_above_cost": "0",
    },
    "in parallel": {
        "force_parallel_mode": "on",
        "parallel_setup_cost": "0",
        "parallel_tuple_cost": "0",
        "min_parallel_table_scan_size": "0",
        "work_mem": "'64kB'",
        "hash_mem_multiplier": "1",
    },
}
"""Settings by which a server plans in other ways."""
TOLD: Final = (
    *("cast text-", "read time", "strftime", "add_days", "matches", "like", "round"),
    *("lowercase", "truncate", "less-text", "concat", "divide", "strptime"),
)
SOME: Final = [one for one in FORMS if str(one).startswith(TOLD)][:: often(12, 3)]


SINCE_16: Final = {"force_parallel_mode": "debug_parallel_query"}
"""Settings that are called something else since PostgreSQL 16."""


def role_with(server: Cluster, name: str, settings: Mapping[str, str]) -> str:
    """Make a superuser with settings of its own, and return its address."""
    server.drop_role(name)
    with server.asking() as connection:
        names = SINCE_16 if connection.info.server_version >= 160_000 else {}
    server.run(f"CREATE ROLE {name} LOGIN SUPERUSER")
    for key, value in settings.items():
        server.run(f"ALTER ROLE {name} SET {names.get(key, key)} TO {value}")
    return server.address(name)


def differing(address: str) -> list[str]:
    """Return the plans and operations on which a server is wrong."""
    engine = postgres_engine(address)
    told = list(islice(verdicts(engine), len(CASES)))
    for form in SOME:
        ask = partial(answer_of_form, form, unheld=engine.dialect.unheld)
        told += [verdict(str(form), ask, engine, MemoryEngine())]
    engine.close()
    return [one.name for one in told if not one.conforms]


SHADOWS: Final = (
    ("length(text)", "integer", "0"),
    ("octet_length(text)", "integer", "9999999"),
    ("floor(double precision)", "double precision", "0"),
    ("hashint8extended(bigint, bigint)", "bigint", "0"),
    ("translate(text, text, text)", "text", "chr(120)"),
    ("btrim(text, text)", "text", "chr(120)"),
    ("strpos(text, text)", "integer", "1"),
    ("make_date(integer, integer, integer)", "date", "current_date"),
    ("format_type(oid, integer)", "text", "chr(120)"),
    ("has_column_privilege(oid, smallint, text)", "boolean", "false"),
    ("pg_relation_filenode(regclass)", "oid", "1::oid"),
    ("to_regclass(text)", "regclass", "NULL::regclass"),
)
OPERATORS: Final = (
    ("=", "bigint", "boolean", "false"),
    ("=", "text", "boolean", "false"),
    ("<=", "bigint", "boolean", "true"),
    ("+", "bigint", "bigint", "0"),
    ("*", "double precision", "double precision", "0"),
    ("||", "text", "text", "chr(120)"),
    ("~", "text", "boolean", "true"),
)


def haunted(server: Cluster, settings: Mapping[str, str]) -> str:
    """Return the address of a role for which the names of PostgreSQL mean others.

    The role has settings of its own besides.
    """
    made = ["DROP SCHEMA IF EXISTS evil CASCADE", "CREATE SCHEMA evil"]
    language = "IMMUTABLE LANGUAGE SQL AS"
    made += [
        f"CREATE FUNCTION evil.{call} RETURNS {kind} {language} 'SELECT {value}'"
        for call, kind, value in SHADOWS
    ]
    for place, (sign, kind, result, value) in enumerate(OPERATORS):
        name = f"evil.f{place}"
        body = f"'SELECT {value}::{result}'"
        sides = f"LEFTARG = {kind}, RIGHTARG = {kind}"
        call = f"{name}({kind}, {kind}) RETURNS {result}"
        made += [
            f"CREATE FUNCTION {call} {language} {body}",
            f"CREATE OPERATOR evil.{sign} ({sides}, FUNCTION = {name})",
        ]
    made += [
        f"CREATE TABLE evil.{name} (c0 bigint, place bigint)"
        for name in ("r0", "s0", "keys", "pg_class", "pg_attribute")
    ]
    made += [
        f"CREATE DOMAIN evil.{name} AS bigint" for name in ("text", "date", "regclass")
    ]
    server.run(*made)
    path = {"search_path": "evil, pg_catalog, public"}
    return role_with(server, "haunted", {**settings, **path})


@sampled(1, 1)
@for_each("name", PLANS)
@pytest.mark.slow
def test_settings_and_names_of_others_change_nothing(name: str) -> None:
    """Functions, operators, types and tables of others hide none of PostgreSQL's."""
    assert not differing(haunted(cluster(), ODD | PLANS[name]))


@pytest.mark.slow
def test_without_our_path_names_mean_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above has power: it is the search path alone that keeps names."""
    begin = server_module._BEGIN.replace(
        "search_path TO pg_catalog, pg_temp", "search_path TO evil, pg_catalog"
    )
    address = haunted(cluster(), {})
    monkeypatch.setattr(server_module, "_BEGIN", begin)
    assert differing(address)


def test_a_table_is_found_by_the_roles_own_path() -> None:
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS public.mine", "CREATE TABLE public.mine (x integer)"
    )
    server.run("INSERT INTO public.mine VALUES (1)")
    source = (haunted(server, {}), "mine")
    session = sd.Session(
        {"t": sd.PrivateTable(source, protects=sd.AddOneRow())},
        budget=sd.PureDP(1),
        engine="postgres",
    )
    assert session.release(sd.table("t").agg(n=sd.count()), sd.PureDP(1)).table.num_rows


ORDERS: Final = (
    "CREATE INDEX ON placed (x)",
    "CLUSTER placed USING placed_x_idx",
    "VACUUM FULL placed",
    "ANALYZE placed",
    "UPDATE placed SET x = -x WHERE x = 0",
    "DELETE FROM pg_statistic WHERE starelid = 'placed'::regclass",
)
"""What gives rows other places and plans other grounds, and changes no value."""


def bounded_answers(address: str) -> list[list[str]]:
    """Return which rows are kept, and entries of those, by one key."""
    engine, told = postgres_engine(address, salt=5), []
    node = Source("t", engine.open("t", (address, "placed"), {}))
    for limit in (1, 3):
        kept = bound_rows(node, ("id",), limit)
        later = bound_rows(explode_rows(node, "codes"), ("ward",), limit)
        questions = (
            question_of(kept, "id", "ward", "x"),
            question_of(explode_rows(kept, "codes", 1), "id", "codes"),
            question_of(later, "ward", "codes"),
        )
        told += [sorted(map(repr, engine.answer(one).to_pylist())) for one in questions]
    engine.close()
    return told


@pytest.mark.slow
def test_places_of_rows_change_nothing() -> None:
    """Rows alike, arrays of all shapes, zeros with a sign, ids that are missing."""
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS placed",
        "CREATE TABLE placed (id bigint, ward text, x float8, codes numeric[])",
        "INSERT INTO placed SELECT nullif(n % 5, 4), chr(97 + n % 3),"
        " ('{0,-0,NaN,1}'::float8[])[1 + n % 4],"
        " (ARRAY['{1,2}', '[4:5]={1,2}', '{}', '{{1,2}}', '{NaN,NULL,1e400}', NULL])"
        "[1 + n % 6]::numeric[] FROM generate_series(1, 400) AS n",
    )
    meant = bounded_answers(server.address())
    assert len({repr(told) for told in meant}) == len(meant)
    for change in ORDERS:
        server.run(change)
        assert bounded_answers(server.address()) == meant
    for settings in PLANS.values():
        assert bounded_answers(role_with(server, "planning", settings)) == meant
