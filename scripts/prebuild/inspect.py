"""Says, as JSON, what a binary is: inspect.py FILE

format, machine, what it exports, the versions of symbols that it needs (`GLIBC_2.17`), the
libraries that it needs, and for macOS the oldest system and whether it carries a signature."""

import json
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
    system = binary.build_version or binary.version_min
    return {
        "format": "MachO",
        "machine": binary.header.cpu_type.name,
        "exports": [one.name for one in binary.exported_symbols],
        "libraries": [one.name for one in binary.libraries],
        "oldest": ".".join(str(part) for part in (system.minos if binary.build_version else system.version)),
        "signed": binary.has_code_signature,
    }


path = sys.argv[1]
kinds = [
    (lief.is_elf, lambda: elf(lief.ELF.parse(path))),
    (lief.is_pe, lambda: pe(lief.PE.parse(path))),
    (lief.is_macho, lambda: macho(lief.MachO.parse(path))),
]
found = [read for is_kind, read in kinds if is_kind(path)]
print(json.dumps(found[0]() if found else {"format": "none of the three"}))
