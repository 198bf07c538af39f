"""settle_zip.py FILE...: writes a zip archive (a wheel) again so that equal content gives equal bytes: sorted names, one
time for all (SOURCE_DATE_EPOCH), fixed permissions."""

import os
import sys
import time
import zipfile

when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # the list of files stands last, as in every wheel
        for name in sorted(files, key=lambda n: (n.endswith(".dist-info/RECORD"), n)):
            info = zipfile.ZipInfo(name, when)
            info.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, files[name])
    os.replace(path + ".new", path)
