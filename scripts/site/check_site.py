#!/usr/bin/env python3
"""check_site.py FOLDER: checks every page of a built site.

Each link leads to a file of the site and, where it names an anchor, to an anchor of that page. No
page loads a script, style, font or picture from another host: the site works without a network.
"""
import html.parser
import os
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = {''}, [], []
        with open(path, encoding='utf-8') as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for name in ('id', 'name'):
            if attrs.get(name):
                self.anchors.add(attrs[name])
        if tag == 'a' and attrs.get('href'):
            self.links.append(attrs['href'])
        elif tag == 'link' and attrs.get('href') and attrs.get('rel') != 'canonical':
            self.loads.append(attrs['href'])
        elif attrs.get('src'):
            self.loads.append(attrs['src'])


def is_external(url):
    return bool(re.match(r'[a-z][a-z0-9+.-]*:|//', url, re.I)) and not is_inline(url)


def is_inline(url):
    return url.startswith(('data:', 'javascript:'))


def main():
    site = sys.argv[1]
    pages, problems = {}, []
    for folder, _, names in os.walk(site):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith('.html'):
                pages[os.path.normpath(path)] = Page(path)
            elif name.endswith('.css'):
                with open(path, encoding='utf-8') as file:
                    for url in re.findall(r'url\(\s*["\']?([^"\')]+)|@import\s*["\']([^"\']+)', file.read()):
                        if is_external(url[0] or url[1]):
                            problems.append(f'{path}: loads {url[0] or url[1]}')
    count = 0
    for path, page in sorted(pages.items()):
        for url in page.loads:
            if is_external(url):
                problems.append(f'{path}: loads {url}')
        for url in page.links + page.loads:
            if is_external(url) or is_inline(url):
                continue
            count += 1
            target, _, anchor = urllib.parse.unquote(url).partition('#')
            target = target.partition('?')[0]
            base = site if target.startswith('/') else os.path.dirname(path)
            file = os.path.normpath(os.path.join(base, target.lstrip('/'))) if target else path
            if os.path.isdir(file):
                file = os.path.join(file, 'index.html')
            if not os.path.isfile(file):
                problems.append(f'{path}: no such file: {url}')
            elif file in pages and anchor not in pages[file].anchors:
                problems.append(f'{path}: no such anchor: {url}')
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f'{site}: {len(pages)} pages, {count} links, {len(problems)} problems')
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
