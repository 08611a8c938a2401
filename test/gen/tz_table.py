"""Prints lib/base/tz_names.h: the rule in force now of every zone in the system's tz database, as POSIX TZ strings.

    python3 test/gen/tz_table.py > lib/base/tz_names.h
"""
import os

ROOT = "/usr/share/zoneinfo"
SKIP = ("posix/", "right/", "SystemV/", "posixrules", "localtime", "Factory")


def rule(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] != b"TZif" or data[4:5] < b"2":
        return None
    return data.rstrip(b"\n").rsplit(b"\n", 1)[-1].decode()


zones = {}
for folder, _, files in os.walk(ROOT):
    for name in files:
        path = os.path.join(folder, name)
        zone = os.path.relpath(path, ROOT)
        if not zone.startswith(SKIP) and "." not in zone:
            text = rule(path)
            if text:
                zones[zone] = text
print("/* Zone names and the rules in force, made by test/gen/tz_table.py. Sorted by name (bytes). */\n")
print("static const struct { const char *name, *rule; } zone_names[] = {")
for zone in sorted(zones):
    print('    {"%s", "%s"},' % (zone, zones[zone]))
print("};")
