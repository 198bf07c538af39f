#!/usr/bin/env bash
# every shared model is read or refused with a reason: no crash, no hang, no more memory than 8 times
# the file's size plus a constant
source "$(dirname "$0")/common.sh"
models=${FLR_MODELS_DIR:-$source_dir/../shared/models}
[ -d "$models" ] || { echo "there are no shared models"; exit 77; }
python=$(command -v python3) || { echo "python3 is not installed"; exit 77; }

# one process runs the commands and looks at each one's exit code, time and largest memory
cat >all.py <<'END'
import json, os, resource, subprocess, sys, threading
feeler, models, sanitized = sys.argv[1:4]
CONSTANT = 16 << 20
own = {".stl", ".obj", ".ply", ".itri"}
passed = failed = 0
refused = []

def one(command, path):
    """exit code, stderr, largest memory in bytes; None instead of the code after 60 s"""
    out, err = os.memfd_create("out"), os.memfd_create("err")
    pid = os.posix_spawn(feeler, [feeler, command, "--json", "--", path], os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)])
    timer = threading.Timer(60, os.kill, (pid, 9))
    timer.start()
    _, status, usage = os.wait4(pid, 0)
    timer.cancel()
    text = [os.pread(f, 1 << 26, 0) for f in (out, err)]
    os.close(out), os.close(err)
    code = os.waitstatus_to_exitcode(status)
    return code, text[0], text[1].decode(errors="replace"), usage.ru_maxrss * 1024

for folder, _, names in sorted(os.walk(models)):
    for name in sorted(names):
        path = os.path.join(folder, name)
        ending = os.path.splitext(name)[1].lower()
        if ending in (".md", ".tsv", ".txt", "") or "LICENSE" in path:
            continue
        for command in ("info", "check"):
            code, out, err, memory = one(command, path)
            trouble = None
            if code < 0:
                trouble = f"killed by signal {-code}" + (" (60 s are over)" if code == -9 else "")
            elif code not in ((0, 3) if command == "info" else (0, 1, 3)):
                trouble = f"exit {code}"
            elif code == 3 and not err.startswith("feeler: "):
                trouble = "refused without a reason"
            elif ending in own and sanitized == "no" and command == "info" and \
                    memory > 8 * os.path.getsize(path) + CONSTANT:
                trouble = f"takes {memory >> 20} MiB for {os.path.getsize(path)} bytes"
            try:
                json.loads(out)
            except ValueError as e:
                trouble = trouble or f"no JSON: {e}"
            if trouble:
                failed += 1
                print(f"FAILED: feeler {command} {path}: {trouble}\n  {err[:300]}")
            else:
                passed += 1
                if code == 3 and command == "info":
                    refused.append(err.split("\n")[0])
print(f"{passed} passed, {failed} failed; {len(refused)} files refused:")
for line in refused:
    print("  " + line)
sys.exit(failed > 0)
END
"$python" all.py "$feeler" "$models" "$sanitized" && pass || fail "some models"
finish
