"""Copies a recording with the directory in which it was made replaced by /srv/demo.

    scrub.py SOURCE TARGET DIRECTORY [PRIVATE...]

Works on bytes, not on text: the logs of Node hold what is not UTF-8. Fails, and writes nothing, if
DIRECTORY or one of the PRIVATE paths of this machine is left.
"""
import sys

source, target, directory, *private = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read().replace(directory.encode(), b"/srv/demo")
for path in [directory, *private]:
    if len(path) > 1 and path.encode() in data:
        sys.exit(f"scrub: {source} still holds a path of this machine")
with open(target, "wb") as file:
    file.write(data)
