"""Keys of small order: with one of them, anybody could have signed anything."""

from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sordino.ledger.policy_file import Policy, is_signed, public_of, sign
from tests.batches import for_each

PRIME: Final = 2**255 - 19
OF_ORDER_8: Final = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    "little",
)
"""One of two; a test below shows that eight times its point is nothing."""
HEIGHTS: Final = (0, 1, PRIME - 1, OF_ORDER_8, PRIME - OF_ORDER_8)
WRITTEN: Final = (*HEIGHTS, PRIME, PRIME + 1)
"""Each way in which 255 bits say one of them."""
TRIVIAL: Final = (bytes([1]) + bytes(63)).hex()
"""The signature of the neutral element and the number 0."""
TEXTS: Final = tuple(f"serial = {number}\n".encode() for number in range(1, 101))


def small_keys() -> list[bytes]:
    """Return all encodings of points of small order, with both signs of x."""
    return [
        (y + (sign_bit << 255)).to_bytes(32, "little")
        for y in WRITTEN
        for sign_bit in (0, 1)
    ]


def height_of_double(y: int) -> int:
    """Return y of twice a point, by the curve -x^2 + y^2 = 1 + d x^2 y^2."""
    d = -121665 * pow(121666, -1, PRIME)
    x_square = (y * y - 1) * pow(d * y * y + 1, -1, PRIME)
    return (y * y + x_square) * pow(1 - d * x_square * y * y, -1, PRIME) % PRIME


@for_each("public", small_keys(), ids=bytes.hex)
def test_nobody_signs_by_a_key_of_small_order(public: bytes) -> None:
    """For any of 100 texts: about one in eight would be signed, were it believed."""
    assert not any(is_signed(public.hex(), TRIVIAL, text) for text in TEXTS)
    assert not Policy(TEXTS[0].decode(), public.hex(), TRIVIAL).is_signed


def test_the_heights_are_those_of_all_points_of_small_order() -> None:
    """Eight times each point is (0, 1); two have no x but 0, so that they are eight."""
    assert len(set(HEIGHTS)) == 5
    for height in HEIGHTS:
        y = height
        for _ in range(3):
            y = height_of_double(y)
        assert y == 1


def test_keys_that_are_drawn_are_believed() -> None:
    for text in TEXTS[:50]:
        key = Ed25519PrivateKey.generate()
        assert is_signed(public_of(key), sign(key, text), text)
        assert not is_signed(public_of(key), TRIVIAL, text)
