"""Says, as JSON, what a binary is: inspect.py FILE

format, machine, what it exports, the versions of symbols that it needs (`GLIBC_2.17`), the
libraries that it needs, and for macOS the oldest system and whether it carries a signature that
fits."""

import hashlib
import json
import struct
import sys

import lief


def elf(binary):
    return {
        "format": "ELF",
        "machine": binary.header.machine_type.name,
        "exports": [one.name for one in binary.exported_functions],
        "versions": sorted(
            {
                version.name
                for needed in binary.symbols_version_requirement
                for version in needed.get_auxiliary_symbols()
            }
        ),
        "libraries": list(binary.libraries),
    }


def pe(binary):
    return {
        "format": "PE",
        "machine": binary.header.machine.name,
        "exports": [one.name for one in binary.get_export().entries] if binary.has_exports else [],
        "libraries": [one.name for one in binary.imports],
    }


def macho(fat):
    (binary,) = fat
    needed = [one for one in binary.libraries if one.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    return {
        "format": "MachO",
        "machine": binary.header.cpu_type.name,
        "exports": [one.name for one in binary.exported_symbols],
        "libraries": [one.name for one in needed],
        "oldest": ".".join(str(part) for part in binary.build_version.minos),
        "signed": binary.has_code_signature and is_signed_truly(binary.code_signature),
    }


def is_signed_truly(signature):
    """Whether each page of the file has the hash that the signature says, as the system will ask."""
    with open(path, "rb") as file:
        whole = file.read()
    blob = whole[signature.data_offset :]
    (offset,) = struct.unpack_from(">I", blob, 16)
    directory = blob[offset:]
    magic, hashes, pages, limit = struct.unpack_from(">I12xI8xII", directory)
    size, kind, _, page_bits = directory[36:40]
    if magic != 0xFADE0C02 or kind != 2 or limit != signature.data_offset:
        return False
    page_size = 1 << page_bits
    expected = [directory[at : at + size] for at in range(hashes, hashes + pages * size, size)]
    starts = range(0, limit, page_size)
    found = [hashlib.sha256(whole[at : min(at + page_size, limit)]).digest() for at in starts]
    return found == expected


path = sys.argv[1]
kinds = [
    (lief.is_elf, lambda: elf(lief.ELF.parse(path))),
    (lief.is_pe, lambda: pe(lief.PE.parse(path))),
    (lief.is_macho, lambda: macho(lief.MachO.parse(path))),
]
found = [read for is_kind, read in kinds if is_kind(path)]
print(json.dumps(found[0]() if found else {"format": "none of the three"}))
