"""sbom.py VERSION SOURCE FILE...: a software bill of materials (SPDX 2.3, JSON) on standard output.

Lists the files of a release, the Debian packages that the programs in them link, and the npm packages that are part of the page.
The same inputs give the same bytes.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path


def deb_packages(path: Path) -> list:
    """Names of what a .deb depends on, with the versions that are installed here."""
    text = subprocess.run(["dpkg-deb", "--field", str(path), "Depends"], capture_output=True, text=True, check=True).stdout
    names = sorted({re.split(r"[ (|]", entry.strip())[0] for entry in text.split(",") if entry.strip()})
    found = []
    for name in names:
        version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], capture_output=True, text=True).stdout
        found.append((name, version or "unknown", f"pkg:deb/debian/{name}@{version or 'unknown'}"))
    return found


def npm_packages(source: Path) -> list:
    """What the page is made of: packages of web/package-lock.json that are not only for development."""
    lock = json.loads((source / "web/package-lock.json").read_text(encoding="utf-8"))
    found = []
    for path, entry in sorted(lock.get("packages", {}).items()):
        if path and not entry.get("dev") and not entry.get("optional"):
            name = path.split("node_modules/")[-1]
            found.append((name, entry["version"], f"pkg:npm/{name}@{entry['version']}"))
    return found


def package(name: str, version: str, locator: str) -> dict:
    key = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]", "-", f"{name}-{version}")
    return {
        "SPDXID": key, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}],
    }


def main() -> None:
    version, source, files = sys.argv[1], Path(sys.argv[2]), [Path(f) for f in sys.argv[3:]]
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))
    used = set(npm_packages(source))
    for path in files:
        if path.suffix == ".deb":
            used |= set(deb_packages(path))
    digests = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(files, key=lambda p: p.name)]
    feeler = package("feeler", version, f"pkg:generic/feeler@{version}")
    feeler["licenseDeclared"] = "Apache-2.0"
    listed = [package(*entry) for entry in sorted(used) if entry[0] not in ("feeler", "python3-feeler")]
    name = hashlib.sha256(json.dumps(digests).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"feeler-{version}",
        "documentNamespace": f"https://feeler.invalid/spdx/{name}",
        "creationInfo": {"created": when, "creators": ["Tool: feeler scripts/sbom.py"]},
        "packages": [feeler] + listed,
        "files": [
            {"SPDXID": f"SPDXRef-File-{i}", "fileName": f"./{file}", "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
            for i, (file, digest) in enumerate(digests)
        ],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relatedSpdxElement": feeler["SPDXID"], "relationshipType": "DESCRIBES"}]
        + [{"spdxElementId": feeler["SPDXID"], "relatedSpdxElement": p["SPDXID"], "relationshipType": "DEPENDS_ON"} for p in listed],
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
