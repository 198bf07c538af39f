#!/usr/bin/env python3
"""stage.py ROOT WORK: collects the pages of the site in WORK/pages.

The pages link to each other as files of the repository, so that they also work where somebody reads
the repository itself. Here each link is resolved to a file of the repository and then written as a
link between pages of the site:
    docs/X                  X; docs/README.md is the home page
    include/feeler/X.h      its page in the API reference, which doxygen wrote to WORK/api
    examples/X.c            a page that shows the source
    a folder                the README.md in it
Links to anything else in the repository stay as they are, and mkdocs refuses them.
"""
import os
import posixpath
import re
import shutil
import sys
import xml.etree.ElementTree as xml

# pages outside docs/ that belong to the site
OUTSIDE = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md']
# a block of code, which stays as it is, or a link
LINK = re.compile(r'^ *```.*?^ *```|\[([^\[\]]*)\]\(([^)\s]+)\)', re.M | re.S)
LIST_ITEM = re.compile(r'^(-|\*|\d+\.) ')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


class Stage:
    def __init__(self, root, work):
        self.root = root
        self.pages = os.path.join(work, 'pages')
        self.headers = {}  # header -> (page, [(function, address)])
        for node in xml.parse(os.path.join(work, 'api.tag')).getroot():
            if node.get('kind') == 'file':
                page = 'api/' + node.findtext('filename')
                names = [(m.findtext('name'), f"api/{m.findtext('anchorfile')}#{m.findtext('anchor')}")
                         for m in node.findall('member') if m.get('kind') == 'function']
                self.headers[node.findtext('name')] = (page, names)

    def write(self, page, text):
        path = os.path.join(self.pages, page)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def site_path(self, target):
        """The page or file of the site for a path of the repository."""
        if os.path.isdir(os.path.join(self.root, target)):
            target = posixpath.join(target, 'README.md')
        header = re.fullmatch(r'include/feeler/(\w+\.h)', target)
        if header and header[1] in self.headers:
            return self.headers[header[1]][0]
        if target.startswith('docs/'):
            return target[len('docs/'):]
        if target.startswith('examples/') and target.endswith('.c'):
            return target[:-2] + '.md'
        return target

    def title(self, target):
        """The heading of a page, without what would be a link inside a link."""
        path = os.path.join(self.root, target)
        heading = re.match(r'# (.+)', read(path)) if target.endswith('.md') and os.path.isfile(path) else None
        return heading[1] if heading and '[' not in heading[1] else None

    def relink(self, source, page, text):
        """Rewrites the links of `source`, a file of the repository that becomes `page`."""
        def link(match):
            label, (url, _, anchor) = match[1], (match[2] or '').partition('#')
            if not url or re.match(r'[a-z]+:', url):
                return match[0]
            target = posixpath.normpath(posixpath.join(posixpath.dirname(source), url))
            # a link that shows a file name shows the title of that page
            if label.endswith('.md') and target.endswith('/' + label) or label == target:
                label = self.title(target) or label
            to = posixpath.relpath(self.site_path(target), posixpath.dirname(page) or '.')
            return f"[{label}]({to}{'#' + anchor if anchor else ''})"

        lines, fenced, before = [], False, ''
        for line in LINK.sub(link, text).split('\n'):
            if line.lstrip().startswith('```'):
                fenced = not fenced
            elif not fenced:
                # Python's Markdown wants an empty line before a list or a table, GitHub's does not
                for block in (LIST_ITEM.match, lambda text: text.startswith('|')):
                    if block(line) and before.strip() and not before.startswith((' ', '|', '#')) and not block(before):
                        lines.append('')
                        break
            lines.append(line)
            before = line
        return '\n'.join(lines)

    def add(self, source):
        page = self.site_path(source)
        text = self.relink(source, page, read(os.path.join(self.root, source)))
        # the home page is a table of contents already
        self.write(page, '---\nhide: [navigation]\n---\n' + text if page == 'README.md' else text)

    def add_docs(self):
        for folder, _, names in os.walk(os.path.join(self.root, 'docs')):
            for name in sorted(names):
                source = posixpath.relpath(os.path.join(folder, name), self.root)
                if name.endswith('.md'):
                    self.add(source)
                else:
                    target = os.path.join(self.pages, self.site_path(source))
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    shutil.copyfile(os.path.join(folder, name), target)
        for source in OUTSIDE:
            self.add(source)

    def add_examples(self):
        """A page for each example: its name, then its source."""
        for folder, _, names in os.walk(os.path.join(self.root, 'examples')):
            for name in names:
                if name.endswith('.c'):
                    path = os.path.join(folder, name)
                    source = posixpath.relpath(path, self.root)
                    self.write(self.site_path(source), f'# {name}\n\n```c\n{read(path)}```\n')

    def add_reference(self):
        """The entry to the API reference: all headers in feeler.h's order, with their functions, so
        that the site's search finds them, too."""
        text = ['# API reference', '',
                'All public headers of libfeeler, in the order of `feeler/feeler.h`. Every header begins with an overview; every',
                'function documents units, ownership, what may be NULL, and its thread class.', '',
                '[All headers](api/files.html) · [all structures](api/annotated.html) · [all names](api/globals.html)', '']
        heading, left = '', dict(self.headers)
        for line in read(os.path.join(self.root, 'include/feeler/feeler.h')).split('\n'):
            group = re.fullmatch(r'/\* (\w.*) \*/', line)
            include = re.match(r'#include "feeler/(\w+\.h)"(?:\s*/\* (.*) \*/)?', line)
            if group and not group[1].startswith('clang-format'):
                heading = group[1][0].upper() + group[1][1:]
            elif include and include[1] in left:
                if heading:
                    text += [f'## {heading}', '']
                    heading = ''
                text += self.header(include[1], left.pop(include[1]), include[2])
        left.pop('feeler.h', None)
        text += ['## Other headers', ''] if left else []
        for name in sorted(left):
            text += self.header(name, left[name], None)
        self.write('reference.md', '\n'.join(text))

    @staticmethod
    def header(name, entry, sentence):
        page, names = entry
        title = f'### [feeler/{name}]({page})'
        functions = ', '.join(f'[`{function}`]({address})' for function, address in names)
        return [title, ''] + ([sentence[0].upper() + sentence[1:] + '.', ''] if sentence else []) + [functions, '']


def main():
    root, work = sys.argv[1:]
    stage = Stage(root, work)
    stage.add_docs()
    stage.add_examples()
    stage.add_reference()
    shutil.copytree(os.path.join(work, 'api'), os.path.join(stage.pages, 'api'))
    # doxygen's main page is empty
    stage.write('api/index.html', '<!doctype html><meta http-equiv="refresh" content="0; url=../reference.html">\n'
                                  '<a href="../reference.html">API reference</a>\n')
    shutil.copyfile(os.path.join(root, 'scripts/site/site.css'), os.path.join(stage.pages, 'site.css'))


if __name__ == '__main__':
    main()
