# SPDX-License-Identifier: BSD-3-Clause
"""A minimal reader and writer of FITS binary tables: an eye of its own on what the command writes."""
import array
import struct

BLOCK = 2880


def read_header(data, at):
    """Cards from byte `at`: (dict of raw value texts, list of cards, where the data start)."""
    cards = []
    while True:
        card = data[at + 80 * len(cards):at + 80 * len(cards) + 80].decode("ascii")
        if len(card) < 80:
            raise ValueError("header cut short")
        cards.append(card)
        if card.startswith("END "):
            break
    values = {}
    for card in cards:
        if card[8:10] == "= ":
            text = card[10:]
            if text.lstrip().startswith("'"):
                text = text.lstrip()[1:].split("'")[0].rstrip()
            else:
                text = text.split("/")[0].strip()
            values[card[:8].strip()] = text
    size = -(-len(cards) * 80 // BLOCK) * BLOCK
    return values, cards, at + size


def data_size(h):
    """Bytes of an HDU's data without padding."""
    n = int(h.get("NAXIS", "0"))
    if not n:
        return 0
    count = 1
    for i in range(n):
        count *= int(h[f"NAXIS{i + 1}"])
    return abs(int(h["BITPIX"])) // 8 * count + int(h.get("PCOUNT", "0"))


def read_tables(path):
    """All binary tables of a file: [(header dict, cards, [(name, unit, values)])]."""
    with open(path, "rb") as f:
        data = f.read()
    assert len(data) % BLOCK == 0, "length is no multiple of 2880"
    tables, at = [], 0
    while at < len(data):
        h, cards, start = read_header(data, at)
        size = data_size(h)
        if h.get("XTENSION") == "BINTABLE":
            tables.append((h, cards, read_columns(h, data[start:start + size])))
        at = start + -(-size // BLOCK) * BLOCK
    return tables


def read_columns(h, data):
    width, rows, offset, columns = int(h["NAXIS1"]), int(h["NAXIS2"]), 0, []
    codes = {"E": ("f", 4), "D": ("d", 8), "J": ("i", 4), "K": ("q", 8), "I": ("h", 2), "B": ("B", 1)}
    for i in range(1, int(h["TFIELDS"]) + 1):
        form = h[f"TFORM{i}"]
        code, one = codes[form[-1]]
        repeat = int(form[:-1] or 1)
        values = array.array(code)
        for r in range(rows):
            values.frombytes(data[r * width + offset:r * width + offset + repeat * one])
        values.byteswap()
        columns.append((h.get(f"TTYPE{i}", ""), h.get(f"TUNIT{i}", ""), values))
        offset += repeat * one
    return columns


def read_map(path):
    """(header, cards, columns) of the first table."""
    return read_tables(path)[0]


def card(key, value, comment=""):
    if isinstance(value, bool):
        text = f"{'T' if value else 'F':>20}"
    elif isinstance(value, (int, float)):
        text = f"{value:>20}"
    else:
        text = f"'{value:8s}'"
    return f"{key:8s}= {text} / {comment}"[:80].ljust(80)


def write_map(path, columns, nside, ordering="RING", extra=(), code="E"):
    """A HEALPix map: columns = [(name, unit, values)]; `extra` = further cards."""
    def block(cards):
        text = "".join(cards + ["END".ljust(80)])
        return text.ljust(-(-len(text) // BLOCK) * BLOCK).encode("ascii")

    n = 12 * nside * nside
    one = 4 if code == "E" else 8
    table = [card("XTENSION", "BINTABLE"), card("BITPIX", 8), card("NAXIS", 2), card("NAXIS1", one * len(columns)),
             card("NAXIS2", n), card("PCOUNT", 0), card("GCOUNT", 1), card("TFIELDS", len(columns))]
    for i, (name, unit, _) in enumerate(columns, 1):
        table += [card(f"TTYPE{i}", name), card(f"TFORM{i}", f"1{code}")]
        if unit:
            table.append(card(f"TUNIT{i}", unit))
    table += [card("PIXTYPE", "HEALPIX"), card("ORDERING", ordering), card("NSIDE", nside), card("FIRSTPIX", 0),
              card("LASTPIX", n - 1), card("INDXSCHM", "IMPLICIT")] + [c.ljust(80) for c in extra]
    data = struct.pack(f">{n * len(columns)}{'f' if code == 'E' else 'd'}", *(c[2][i] for i in range(n) for c in columns))
    with open(path, "wb") as f:
        f.write(block([card("SIMPLE", True), card("BITPIX", 8), card("NAXIS", 0), card("EXTEND", True)]))
        f.write(block(table))
        f.write(data.ljust(-(-len(data) // BLOCK) * BLOCK, b"\0"))
