"""DuckDB's functions of one row: of equal arguments they always give the same.

A test holds each against DuckDB's catalogue; `if` and `nullif` are macros of its own.
One that can fail stands inside of TRY.
"""

from typing import Final

_OPERATORS: Final = "+ - * / // % ** ^ || & | << >> ~ ~~ !~~ ~~* !~~* ~~~ ^@"
_NUMBERS: Final = """
    abs acos add asin atan atan2 bit_count cbrt ceil ceiling cos cot degrees divide even
    exp factorial floor gcd greatest hash isfinite isinf isnan lcm least ln log
    log10 log2 md5 mod multiply pi pow power radians round sha256 sign signbit sin sqrt
    subtract tan trunc xor
"""
_TEXTS: Final = """
    array_slice ascii bar base64 bin chr concat concat_ws contains ends_with format
    from_base64 hex instr lcase left length like_escape list_value lower lpad ltrim
    ilike_escape not_ilike_escape not_like_escape ord prefix printf regexp_extract
    regexp_extract_all regexp_full_match regexp_matches regexp_replace repeat replace
    reverse right row rpad rtrim split starts_with str_split string_split
    strip_accents strlen strpos substr substring suffix to_base translate trim ucase
    unicode upper
"""
_DATES: Final = """
    date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day
    dayname dayofmonth dayofweek dayofyear epoch epoch_ms epoch_us hour isodow isoyear
    last_day make_date make_time make_timestamp microsecond millisecond minute month
    monthname quarter second strftime strptime to_days to_hours to_microseconds
    to_milliseconds to_minutes to_months to_seconds to_weeks to_years try_strptime week
    weekday weekofyear year yearweek
"""
_NESTED: Final = """
    array_contains array_length element_at flatten json_extract json_extract_string
    json_valid len list_contains list_element list_extract list_has
    list_position list_sort list_slice map_extract map_keys map_values struct_extract
    struct_pack array_extract
"""
_CHOICES: Final = "if nullif typeof"
ROW_FUNCTIONS: Final = frozenset(
    f"{_OPERATORS} {_NUMBERS} {_TEXTS} {_DATES} {_NESTED} {_CHOICES}".split()
)
"""Functions and operators by their names."""
