#!/usr/bin/env python3
"""Doxygen's input filter: turns the plain comments of a public header into documentation comments.

A comment directly above a declaration documents it, one behind a declaration on the same line
documents that one, and the first comment of a header documents the header. All others, for
instance between includes or inside inline functions, stay plain.
"""
import glob
import os
import re
import sys

ESCAPED = re.compile(r'([\\@<>#%&])')
NAME = re.compile(r'\b(flr|FLR)_\w+\b(?![(_…*])')


class Names:
    """The functions and constants that all headers of a folder declare, for links between them."""
    def __init__(self, folder):
        self.functions, self.constants = set(), set()
        for path in glob.glob(os.path.join(folder, '*.h')):
            with open(path, encoding='utf-8') as file:
                code = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
            self.functions |= set(re.findall(r'\b(flr_\w+)\(', code))
            for body in re.findall(r'\benum\b[^;{]*\{([^}]*)\}', code):
                self.constants |= set(re.findall(r'(?:^|,)\s*(FLR_\w+)', body))

    def link(self, text):
        """Writes names as doxygen wants them for a link."""
        def mark(match):
            name = match[0]
            return name + '()' if name in self.functions else '#' + name if name in self.constants else name
        return NAME.sub(mark, text)


def escape(text, names):
    """Keeps doxygen from reading commands and HTML in prose; code in backquotes stays as it is."""
    text = text.replace('et al. ', 'et al.\0')
    parts = text.split('`')
    text = '`'.join(names.link(ESCAPED.sub(r'\\\1', part)) if i % 2 == 0 else part for i, part in enumerate(parts))
    return text.replace('\0', '\\ ')  # the brief description does not end here


def prose(lines, names):
    """Escapes the lines of a comment (without its delimiters) and marks indented ones as code."""
    out = []
    in_list = False
    pad = None  # inside code: how far to move it, so that Markdown takes it for code
    for i, line in enumerate(lines):
        star = re.match(r'^(\s*\*)(?: (.*))?$', line) if i else None
        head, text = (star[1], star[2] or '') if star else ('', line)
        indent = len(text) - len(text.lstrip())
        if re.match(r'\s*(-|\d+\.) ', text):
            in_list = True
        elif not text.strip() or indent == 0:
            in_list = False
        if star and text.strip() and indent >= 2 and not in_list:
            if pad is None:
                pad = ' ' * max(0, 4 - indent)
                out.append(head)  # Markdown wants an empty line before code
            out.append(f'{head} {pad}{text}')
        else:
            if text.strip():
                pad = None
            out.append(f'{head} {escape(text, names)}' if star else escape(text, names))
    return out


def documents_next(after):
    """Whether a comment that stands alone documents the line behind it."""
    after = after.strip()
    if not after or after.startswith(('/*', '}', 'extern "C"')):
        return False
    return not after.startswith('#') or after.startswith('#define')


def convert(text, names):
    lines = text.split('\n')
    out = []
    in_body = False
    i = 0
    while i < len(lines):
        line = lines[i]
        if line == '{':
            in_body = True
        elif line == '}':
            in_body = False
        start = line.find('/*')
        if in_body or start < 0 or line.startswith('#include') or line.lstrip().startswith('//'):
            out.append(line)
            i += 1
            continue
        end = i
        while '*/' not in lines[end][start + 2 if end == i else 0:]:
            end += 1
        block = [line[start + 2:]] + lines[i + 1:end + 1]
        close = block[-1].rfind('*/')
        block[-1], tail = block[-1][:close], block[-1][close:]
        code = line[:start]
        if i == 0:
            title = re.match(r' feeler/(\S+\.h): (.)(.*)', block[0])
            # doxygen shows brief descriptions of files without Markdown
            brief = (title[2].upper() + title[3]).replace('`', '')
            block[0] = f' @file {title[1]} @brief {escape(brief, names)}'
            block = block[:1] + prose([''] + block[1:], names)[1:]
            opener = '/**'
        elif code.strip():
            opener = '/*' if code.rstrip().endswith('{') else '/**<'
            block = prose(block, names)
        elif documents_next(lines[end + 1] if end + 1 < len(lines) else ''):
            opener = '/**'
            block = prose(block, names)
        else:
            opener = '/*'
        block[-1] += tail
        out.append(code + opener + block[0])
        out.extend(block[1:])
        i = end + 1
    return '\n'.join(out)


if __name__ == '__main__':
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.reconfigure(encoding='utf-8')
        sys.stdout.write(convert(file.read(), Names(os.path.dirname(sys.argv[1]))))
