#!/usr/bin/env python3
"""Writes what the declared tables (ingest/model/tables/*.def) say of their rows into api/openapi.json and
static/js/lib/types/rows.d.ts; with --check it only says whether they say so already.

Of a property that stands in openapi.json already, `enum` and `example` are kept: write them there. A line
MEMBER(name) stands for a member that only JSON has, whose schema is written by hand.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPENAPI = ROOT / 'api/openapi.json'
TYPES = ROOT / 'static/js/lib/types/rows.d.ts'
LINE = 120
JSON_TYPES = {'INT': 'integer', 'FLAG': 'boolean', 'MAYBE': 'boolean', 'BITS': 'integer', 'REAL': 'number', 'TEXT': 'string', 'SHARED': 'string',
              'RATIO': 'number', 'DELTA': 'integer', 'WIDE': 'integer', 'JSON': 'array', 'SIZE': 'integer', 'NUMBER': 'number'}
UNITS = {'NONE': None, 'COUNT': 'count', 'NS': 'ns', 'US': 'us', 'BYTES': 'bytes', 'PCT': 'percent', 'SHARE': 'share'}
# How many arguments stand behind the ones that tell the column, by the word that begins a line.
WORDS = {'TABLE', 'COLUMN', 'ADDED', 'RATIO', 'ARRAY', 'ELEMENT', 'MEMBER', 'DELTA'}
ARGUMENT = re.compile(r'\s*("(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*|[^,()"]+(?:\([^()]*\))?)\s*(,|\))')


def calls(path):
    """(word, arguments) of each line of a `.def`, those that it includes too."""
    text = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.S)
    for match in re.finditer(r'^#include "([^"]+)"|^([A-Z]+)\(', text, re.M):
        if match[1]:
            yield from calls(ROOT / match[1])
            continue
        if match[2] not in WORDS:
            raise SystemExit('%s: what is %s?' % (path, match[2]))
        at, arguments, end = match.end(), [], ','
        while end == ',':
            one = ARGUMENT.match(text, at)
            if not one:
                raise SystemExit('%s: cannot read %r' % (path, text[match.start():at + 80]))
            value, end, at = one[1].strip(), one[2], one.end()
            arguments.append(''.join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', value)) if value.startswith('"') else value)
        yield match[2], arguments


def column(word, a):
    """(name, kind, unit, flags, doc)"""
    if word == 'RATIO':
        return a[0], 'RATIO', a[3], a[4], a[5]
    if word == 'DELTA':
        return a[0], 'DELTA', a[3], '0', a[4]
    if word == 'ELEMENT':
        return a[4], a[0], a[5], a[6], a[7]
    return a[2], a[0], a[3], a[4], a[-1]


def schema_of(kind, unit, doc, flags, known):
    nullable = kind.endswith('_OR_NULL') or kind in ('MAYBE', 'WIDE', 'JSON') or None in known.get('enum', [])
    if kind == 'SHARED_4':
        out = {'type': 'array', 'items': {'type': 'string'}, 'minItems': 4, 'maxItems': 4}
    else:
        base = JSON_TYPES.get(kind.removesuffix('_OR_NULL'), 'string')
        out = {'type': [base, 'null'] if nullable else base}
    out.update({key: known[key] for key in ('enum', 'example') if key in known})
    if doc:
        out['description'] = doc
    if UNITS[unit] not in (None, 'count'):
        out['x-unit'] = UNITS[unit]
    return out


def table_schema(path, schemas):
    """(name of the schema, the schema) of a table; its members as they stand in openapi.json."""
    name, known, out, required = None, {}, {}, []
    doc = ''
    for word, a in calls(path):
        if word == 'TABLE':
            name, doc = a[2], a[3]
            known = schemas.get(name, {}).get('properties', {})
        elif word == 'MEMBER':
            out[a[0]] = known[a[0]]
            required.append(a[0])
        elif word != 'ARRAY':
            field, kind, unit, flags, says = column(word, a)
            if 'HIDDEN' in flags:
                continue
            out[field] = schema_of(kind, unit, says, flags, known.get(field, {}))
            if 'WHEN_' not in flags:
                required.append(field)
    return name, {'type': 'object', **({'description': doc} if doc else {}), 'properties': out, 'required': required}


def pretty(value, indent):
    """JSON as the description has it: on one line what fits into one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or indent + len(flat) <= LINE:
        return flat
    pad = '\n' + ' ' * (indent + 1)
    if isinstance(value, dict):
        body = ','.join('%s%s: %s' % (pad, json.dumps(k), pretty(v, indent + 1) if len(k) + 5 + indent + len(json.dumps(v, ensure_ascii=False)) > LINE
                                      else json.dumps(v, ensure_ascii=False)) for k, v in value.items())
        return '{' + body + '\n' + ' ' * indent + '}'
    return '[' + ','.join(pad + pretty(item, indent + 1) for item in value) + '\n' + ' ' * indent + ']'


def with_schema(text, name, schema):
    """The description with one schema replaced, or put in front of the others."""
    block = '   "%s": %s' % (name, pretty(schema, 3))
    begin = text.find('\n   "%s": {' % name, text.index('"schemas": {'))
    if begin < 0:
        at = text.index('"schemas": {') + len('"schemas": {')
        return text[:at] + '\n' + block + ',' + text[at:]
    end = text.index('\n   }', begin) + len('\n   }') if text[text.index('{', begin) + 1] == '\n' else text.index('\n', begin + 1)
    rest = text[end:] if text[end - 1] != ',' else ',' + text[end:]
    return text[:begin + 1] + block + rest


TS = {'integer': 'number', 'number': 'number', 'string': 'string', 'boolean': 'boolean', 'null': 'null', 'array': 'unknown[]'}


def ts_type(schema):
    if '$ref' in schema:
        return schema['$ref'].rsplit('/', 1)[1].removesuffix('Row') + 'Row'
    if 'enum' in schema:
        return ' | '.join(json.dumps(word).replace('"', "'") for word in schema['enum'])
    kinds = schema.get('type')
    if kinds == 'array':
        return 'Array<%s>' % ts_type(schema['items'])
    if 'properties' in schema:
        return '{ %s }' % '; '.join('%s: %s' % (name, ts_type(told)) for name, told in schema['properties'].items())
    if 'additionalProperties' in schema:
        return 'Record<string, %s>' % ts_type(schema['additionalProperties'])
    return ' | '.join(TS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))


def ts_of(name, schema):
    yield '/** %s */' % (schema.get('description') or 'See api/openapi.json.')
    yield 'interface %sRow {' % name.removesuffix('Row')
    for field, told in schema['properties'].items():
        says = ' '.join(filter(None, [told.get('description'), told.get('x-unit') and '[%s]' % told['x-unit']]))
        yield '    %s%s: %s;%s' % (field, '' if field in schema['required'] else '?', ts_type(told), ' // ' + says if says else '')
    yield '}'
    yield ''


def main():
    text = OPENAPI.read_text()
    schemas = json.loads(text)['components']['schemas']
    types = ['// What rows of declared tables hold. Written by api/rows.py from ingest/model/tables/: change it there.', '']
    for path in sorted((ROOT / 'ingest/model/tables').rglob('*.def'), key=lambda path: path.name):
        name, schema = table_schema(path, schemas)
        if name and name != 'NONE':
            text = with_schema(text, name, schema)
            types += ts_of(name, schema)
    new = {OPENAPI: text, TYPES: '\n'.join(types).rstrip('\n') + '\n'}
    stale = [path for path, content in new.items() if not path.exists() or path.read_text() != content]
    json.loads(text)
    if '--check' in sys.argv:
        for path in stale:
            print('%s is not what ingest/model/tables says: run api/rows.py' % path.relative_to(ROOT))
        return 1 if stale else 0
    for path in stale:
        path.write_text(new[path])
    return 0


if __name__ == '__main__':
    sys.exit(main())
