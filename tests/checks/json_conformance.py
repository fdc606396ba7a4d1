#!/usr/bin/env python3
"""JSON, valid and not, through the whole program. Names as in the public suites: y_ must be taken as it is, n_ is no JSON
and must be repaired with a warning or refused with the place, i_ is left to the reader (here: what we promise of it).

Every text stands once as a value of an event's arguments, where the operator table shows what was read (Python's str()
of it), once as an unknown member of the document, and, where it can, once as the document itself. The events beside it
must stay what they are.
"""
import json
import math
import unittest

import kinetoscope

# --- values that are JSON ---

Y = {
    'null': 'null', 'true': 'true', 'false': 'false',
    'number_0': '0', 'number_minus_0': '-0', 'number_minus_0_fraction': '-0.0', 'number_9': '9', 'number_10': '10', 'number_minus': '-123',
    'number_fraction': '0.5', 'number_fraction_long': '3.14159265358979323846264338327950288', 'number_fraction_zeros': '1.500', 'number_0_exponent': '0e1',
    'number_0_exponent_plus': '0e+1', 'number_exponent': '1e3', 'number_exponent_upper': '1E3', 'number_exponent_plus': '1e+3', 'number_exponent_minus': '25e-2',
    'number_exponent_upper_plus': '1E+2', 'number_exponent_upper_minus': '1E-2', 'number_exponent_zeros': '1e0003', 'number_fraction_exponent': '123.456e78',
    'number_fraction_exponent_minus': '1.5E-3', 'number_tiny': '5e-324', 'number_below_tiny': '1e-400', 'number_large': '1.7976931348623157e308',
    'number_int64_max': '9223372036854775807', 'number_int64_min': '-9223372036854775808', 'number_uint64_max': '18446744073709551615', 'number_int_30_digits': '123456789012345678901234567890',
    'number_int_100_digits': '1' * 100, 'number_2_53_plus_1': '9007199254740993', 'number_fraction_60_digits': '0.' + '123456' * 10, 'number_double_halfway': '9007199254740993.0',
    'string_empty': '""', 'string_ascii': '"abc"', 'string_space': '" "', 'string_digits': '"123"', 'string_null_word': '"null"',
    'string_escapes': r'"\" \\ \/ \b \f \n \r \t"', 'string_escaped_quote': r'"\""', 'string_escaped_backslash': r'"\\"', 'string_backslash_n': r'"\\n"', 'string_many_backslashes': r'"\\\\\\\\"',
    'string_backslash_quote': r'"\\\""', 'string_solidus': '"a/b"', 'string_escaped_solidus': r'"a\/b"', 'string_u_lower': r'"\u00e9\u20ac"', 'string_u_upper': r'"\u00E9\u20AC"', 'string_u_mixed': r'"\u20aC"',
    'string_u_ascii': r'"\u0041\u0022\u005c"', 'string_u_control': r'"\u0001\u001f\u007f"', 'string_u_0080': r'"\u0080"', 'string_u_07ff': r'"\u07ff\u0800"', 'string_u_fffd': r'"\ufffd"', 'string_u_ffff': r'"\uffff\ufffe\ufdd0"',
    'string_u_pair': r'"\ud83d\ude00"', 'string_u_pair_upper': r'"\uD83D\uDE00"', 'string_u_pair_first': r'"\ud800\udc00"', 'string_u_pair_last': r'"\udbff\udfff"', 'string_u_bom': r'"\ufeff"', 'string_u_separators': r'"\u2028\u2029"',
    'string_utf8_2': '"é"', 'string_utf8_3': '"€"', 'string_utf8_4': '"😀"', 'string_utf8_last': '"\U0010ffff"', 'string_utf8_bom_inside': '"a\ufeffb"', 'string_utf8_separators': '"\u2028\u2029"', 'string_del': '"\x7f"',
    'string_utf8_nonprinting': '"\u0085\u00a0\u200b"', 'string_combining': '"e\u0301"', 'string_rtl': '"\u202eabc"', 'string_brackets': '"[{]}"', 'string_commas': '"a,b:c"', 'string_comment': '"/* a */ // b"',
    'string_html': '"<b>&amp;</b>"', 'string_quote_single': '"it\'s"', 'string_key_like': r'"\"name\": \"x\""', 'string_long': '"' + 'x' * 5000 + '"', 'string_long_escapes': '"' + r'\u20ac\n' * 700 + '"',
    'string_sixteen': '"0123456789abcdef"', 'string_fifteen': '"0123456789abcde"', 'string_thirty_two': '"' + '01234567' * 4 + '"',
    'array_empty': '[]', 'array_spaces': '[ ]', 'array_newlines': '[\n\r\t ]', 'array_one': '[1]', 'array_mixed': '[null, 1, "1", {}, [], true, false, 1.5]', 'array_nested': '[[[[1]], []], [[2]]]', 'array_spaces_inside': ' [ 1 , 2\n,\t3 ] ',
    'array_no_spaces': '[1,2,[3,"4"]]', 'array_empty_string': '[""]', 'array_strings': '["a", "b\\n", "it\'s", "say \\"hi\\""]', 'array_deep_50': '[' * 50 + ']' * 50, 'array_deep_300': '[' * 300 + '1' + ']' * 300, 'array_long': '[' + '1,' * 2000 + '1]',
    'array_of_empty': '[[],{},[[]],{}]', 'array_minus_0': '[-0, -0.0, 0.0]', 'array_exponents': '[1e5, 1e15, 1e16, 1e17, 1e-4, 1e-5]', 'array_large': '[1e22, 1e23, 123456789.123456789]',
    'object_empty': '{}', 'object_spaces': '{ }', 'object_one': '{"a": 1}', 'object_no_spaces': '{"a":1,"b":[2],"c":{"d":null}}', 'object_spaces_inside': '{ "a"\n:\t1 , "b" :2 }', 'object_empty_key': '{"": 0}',
    'object_escaped_key': r'{"a\"\\\u0062": 1}', 'object_key_unicode': '{"é€😀": 1}', 'object_nested': '{"a": {"b": {"c": {"d": [1, {"e": 2}]}}}}', 'object_same_values': '{"a": "b", "b": "b"}', 'object_long_key': '{"%s": 1}' % ('k' * 500),
    'object_many': '{' + ', '.join('"k%d": %d' % (i, i) for i in range(300)) + '}', 'object_number_keys': '{"1": 1, "1.0": 2}', 'object_deep_100': '{"a":' * 100 + '1' + '}' * 100, 'object_key_like_ours': '{"ph": "X", "ts": "no", "traceEvents": [1]}',
    'object_string_values': '{"a": "x\\ty", "b": "it\'s"}', 'space_before': ' \t\r\n1', 'space_after': '1 \t\r\n', 'space_around_string': ' "a" ', 'space_crlf': '\r\n[\r\n1\r\n]\r\n',
}

# --- texts that are no JSON ---

N = {
    'nothing': '', 'word': 'abc', 'true_upper': 'True', 'true_cut': 'tru', 'true_long': 'truee', 'true_caps': 'TRUE', 'false_cut': 'fals', 'false_upper': 'False', 'null_cut': 'nul', 'null_caps': 'NULL', 'null_long': 'nulls', 'none': 'None', 'undefined': 'undefined',
    'nan': 'NaN', 'nan_lower': 'nan', 'nan_minus': '-NaN', 'infinity': 'Infinity', 'infinity_minus': '-Infinity', 'inf': 'inf', 'na': 'N/A',
    'number_plus': '+1', 'number_plus_plus': '++1', 'number_minus_only': '-', 'number_minus_minus': '--1', 'number_minus_space': '- 1', 'number_minus_word': '-foo', 'number_leading_zero': '01', 'number_leading_zeros': '00', 'number_minus_leading_zero': '-012',
    'number_leading_zero_fraction': '01.5', 'number_double_zero_exponent': '00e1', 'number_point_only': '.', 'number_point_first': '.5', 'number_minus_point': '-.5', 'number_point_last': '1.', 'number_minus_point_last': '-2.', 'number_point_exponent': '1.e3',
    'number_two_points': '1.2.3', 'number_point_minus': '1.-5', 'number_e_only': 'e', 'number_e_first': 'e5', 'number_e_last': '1e', 'number_e_upper_last': '1E', 'number_e_plus': '1e+', 'number_e_minus': '1e-', 'number_ee': '1ee2', 'number_e_point': '1e.5', 'number_e_fraction': '1e5.5',
    'number_0_e': '0e', 'number_0_e_plus': '0e+', 'number_hex': '0x1F', 'number_hex_digits': '0x', 'number_octal': '0o7', 'number_underscore': '1_000', 'number_comma_thousands_word': '1a', 'number_trailing_letter': '123abc', 'number_two': '1 2', 'number_expression': '1+2',
    'number_full_width': '\uff11', 'number_suffix': '1f', 'number_minus_infinity_cut': '-Inf', 'number_then_string': '1"a"',
    'string_single_quotes': "'a'", 'string_open': '"a', 'string_only_quote': '"', 'string_bad_escape': r'"\q"', 'string_bad_escape_x': r'"\x41"', 'string_bad_escape_0': r'"\0"', 'string_bad_escape_a': r'"\a"', 'string_bad_escape_quote': r'"\'"', 'string_bad_escape_space': r'"\ "',
    'string_bad_escape_utf8': '"\\é"', 'string_u_none': r'"\u"', 'string_u_1': r'"\u0"', 'string_u_3': r'"\u004"', 'string_u_not_hex': r'"\u00g1"', 'string_u_upper_u': r'"\U0041"', 'string_u_space': r'"\u 041"', 'string_u_minus': r'"\u-041"',
    'string_tab': '"a\tb"', 'string_newline': '"a\nb"', 'string_return': '"a\rb"', 'string_control_1': '"a\x01b"', 'string_control_1f': '"a\x1fb"', 'string_control_first': '"\x02"', 'string_nul': '"a\0b"', 'string_inner_quotes': '"say "hi" twice"', 'string_two': '"a" "b"',
    'string_word_behind': '"a"b', 'string_word_before': 'b"a"', 'string_backtick': '`a`', 'string_curly_quotes': '\u201ca\u201d', 'string_escape_outside': r'\n', 'string_u_outside': r'\u0041',
    'array_open': '[1', 'array_open_empty': '[', 'array_close': ']', 'array_comma_last': '[1,]', 'array_comma_first': '[,1]', 'array_comma_only': '[,]', 'array_commas': '[1,,2]', 'array_no_comma': '[1 2]', 'array_no_comma_strings': '["a" "b"]', 'array_no_comma_arrays': '[[1] [2]]',
    'array_colon': '[1:2]', 'array_member': '["a": 1]', 'array_wrong_close': '[1}', 'array_two_closes': '[1]]', 'array_word': '[a]', 'array_nan': '[NaN, 1]', 'array_leading_zero': '[01]', 'array_semicolon': '[1;2]', 'array_star': '[*]', 'array_inner_open': '[[1, 2]', 'array_newline_string': '["a\nb"]',
    'array_comment': '[1 /* one */]', 'array_line_comment': '[1 // one\n]', 'array_bad_escape': r'["\q"]', 'array_ellipsis': '[1, ...]', 'array_minus': '[-]', 'array_parentheses': '(1)', 'array_angle': '<1>', 'array_nbsp': '[\u00a01]', 'array_form_feed': '[\x0c1]', 'array_vertical_tab': '[\x0b1]',
    'object_open': '{"a": 1', 'object_open_empty': '{', 'object_open_key': '{"a', 'object_open_colon': '{"a":', 'object_close': '}', 'object_comma_last': '{"a": 1,}', 'object_comma_first': '{,"a": 1}', 'object_commas': '{"a": 1,, "b": 2}', 'object_no_colon': '{"a" 1}', 'object_two_colons': '{"a":: 1}',
    'object_no_value': '{"a":}', 'object_no_value_next': '{"a":, "b": 1}', 'object_no_comma': '{"a": 1 "b": 2}', 'object_key_only': '{"a"}', 'object_key_bare': '{a: 1}', 'object_key_single': "{'a': 1}", 'object_key_number': '{1: 1}', 'object_key_null': '{null: 1}', 'object_key_array': '{[1]: 2}', 'object_value_two': '{"a": 1 2}',
    'object_equals': '{"a" = 1}', 'object_arrow': '{"a" => 1}', 'object_semicolon': '{"a": 1; "b": 2}', 'object_wrong_close': '{"a": 1]', 'object_two_closes': '{"a": 1}}', 'object_comment': '{/* a */ "a": 1}', 'object_key_control': '{"a\x01": 1}', 'object_key_bad_escape': r'{"\q": 1}', 'object_leading_zero': '{"a": 007}',
    'object_nan': '{"a": NaN}', 'object_word': '{"a": yes}', 'object_missing_quote': '{"a: 1}', 'object_missing_quote_2': '{a": 1}', 'object_unbalanced': '{"a": [1, {"b": 2]}', 'object_bad_inside': '{"a": {"b": tru}}', 'object_colon_only': '{:}', 'object_colon_value': '{: 1}', 'comment': '/* a */ 1', 'hash_comment': '# a\n1',
    'ampersand': '&', 'star': '*', 'at': '@', 'dollar': '$1', 'percent': '%', 'semicolon': '1;', 'backslash': '\\', 'tilde': '~', 'utf8_letter': 'é', 'bom_inside': '\ufeff1', 'nbsp': '\u00a01', 'nul': '\0', 'control': '\x01', 'del': '\x7f',
}

# --- what the standard leaves open, or what lies beyond it: bytes, and what we promise: the value shown, or 'warned' ---

I = {
    'number_huge_exponent': (b'1e400', 'inf'), 'number_minus_huge_exponent': (b'-1e400', '-inf'), 'number_huge_exponent_long': (b'1e99999999999999999999', 'inf'), 'number_tiny_exponent_long': (b'1e-99999999999999999999', '0.0'),
    'number_int_400_digits': (b'1' * 400, '1' * 400), 'object_duplicate': (b'{"a": 1, "a": 2}', "{'a': 1, 'a': 2}"), 'object_duplicate_same': (b'{"a": 1, "a": 1}', "{'a': 1, 'a': 1}"),
    'string_lone_high': (rb'"\ud800"', '\ufffd'), 'string_lone_low': (rb'"\udc00"', '\ufffd'), 'string_two_high': (rb'"\ud800\ud800x"', '\ufffd\ufffdx'), 'string_swapped': (rb'"\udc00\ud800"', '\ufffd\ufffd'), 'string_high_then_letter': (rb'"\ud83dA"', '\ufffdA'),
    'string_high_then_escape': (rb'"\ud83d\n"', '\ufffd\n'), 'string_u0000': (rb'"a\u0000b"', 'a\ufffdb'),
    'utf8_alone_80': (b'"\x80"', 'warned'), 'utf8_alone_ff': (b'"\xff"', 'warned'), 'utf8_overlong_2': (b'"\xc0\xaf"', 'warned'), 'utf8_overlong_3': (b'"\xe0\x80\xaf"', 'warned'), 'utf8_overlong_4': (b'"\xf0\x80\x80\xaf"', 'warned'), 'utf8_cut_2': (b'"\xc3"', 'warned'),
    'utf8_cut_3': (b'"\xe2\x82"', 'warned'), 'utf8_cut_4': (b'"\xf0\x9f\x98"', 'warned'), 'utf8_surrogate': (b'"\xed\xa0\x80"', 'warned'), 'utf8_beyond': (b'"\xf4\x90\x80\x80"', 'warned'), 'utf8_five': (b'"\xf8\x88\x80\x80\x80"', 'warned'), 'utf8_latin1': ('"é"'.encode('latin-1'), 'warned'),
    'utf8_bad_key': (b'{"\xff": 1}', 'warned'), 'utf8_bad_outside': (b'\xff', 'warned'), 'deep_600': (b'[' * 600 + b']' * 600, 'warned'), 'deep_100000': (b'[' * 100000 + b']' * 100000, 'warned'), 'deep_open_100000': (b'[' * 100000, 'warned'),
    'deep_objects_100000': (b'{"a":' * 100000 + b'1' + b'}' * 100000, 'warned'),
}

EVENT = '{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d, "dur": 5, "args": {"Input Dims": '
BEFORE = (EVENT % ('before', 1) + '[1]}}, ').encode()
AFTER = (', ' + EVENT % ('after', 100) + '[2]}}').encode()
HEAD = b'{"schemaVersion": 1, "traceEvents": ['

# --- documents: b'EVENTS' stands for two sound events ---

EVENTS = BEFORE + AFTER[2:]
DOCUMENTS = {
    'y_object': b'{"traceEvents": [EVENTS]}', 'y_array': b'[EVENTS]', 'y_space_around': b' \r\n\t{"traceEvents" : [ EVENTS ] } \n\n', 'y_member_before': b'{"a": {"b": [1, "]}"]}, "traceEvents": [EVENTS]}', 'y_member_behind': b'{"traceEvents": [EVENTS], "a": [[], {}]}',
    'y_escaped_key': b'{"\\u0061": 1, "traceEvents": [EVENTS]}', 'y_empty_key': b'{"": 1, "traceEvents": [EVENTS]}', 'y_newlines': b'[\nEVENTS\n]\n', 'y_no_spaces': b'{"a":1,"traceEvents":[EVENTS],"b":2}', 'y_large_member': b'{"a": "' + b'x' * 900000 + b'", "traceEvents": [EVENTS]}',
    'y_key_over_a_window': b'{"schemaVersion": 1,' + b' ' * ((1 << 20) - 26) + b'"aKeyOfOurOwn": 5, "traceEvents": [EVENTS]}' + b' ' * (2 << 20), 'y_event_over_a_window': b'[' + b' ' * ((1 << 20) - 40) + b'EVENTS]',
    'n_cut_array': b'{"traceEvents": [EVENTS', 'n_cut_object': b'{"traceEvents": [EVENTS]', 'n_cut_bare_array': b'[EVENTS', 'n_cut_comma': b'[EVENTS,', 'n_two_documents': b'[EVENTS][1]', 'n_words_behind': b'[EVENTS] and so on', 'n_brace_behind': b'{"traceEvents": [EVENTS]}}', 'n_bracket_behind': b'[EVENTS]]',
    'n_comma_behind': b'[EVENTS],', 'n_comma_last': b'[EVENTS,]', 'n_comma_first': b'[,EVENTS]', 'n_commas': b'{"traceEvents": [EVENTS],, "a": 1}', 'n_comma_last_member': b'{"traceEvents": [EVENTS],}', 'n_comma_first_member': b'{, "traceEvents": [EVENTS]}', 'n_no_comma_member': b'{"a": 1 "traceEvents": [EVENTS]}',
    'n_no_comma_behind': b'{"traceEvents": [EVENTS] "a": 1}', 'n_no_colon': b'{"traceEvents" [EVENTS]}', 'n_two_colons': b'{"traceEvents":: [EVENTS]}', 'n_wrong_close': b'{"traceEvents": [EVENTS}]', 'n_wrong_close_2': b'[EVENTS}', 'n_key_bare': b'{traceEvents: [EVENTS]}', 'n_key_single': b"{'traceEvents': [EVENTS]}",
    'n_comment': b'/* trace */ [EVENTS]', 'n_comment_inside': b'{/* a */ "traceEvents": [EVENTS]}', 'n_words_before': b'words [EVENTS]', 'n_lost_brace': b'"traceEvents": [EVENTS]}', 'n_element_word': b'[EVENTS, abc]', 'n_element_open_string': b'[EVENTS, "abc]', 'n_nul_behind': b'[EVENTS]\0', 'n_nul_between': b'[\0EVENTS]',
    'n_control_key': b'{"a\x01": 1, "traceEvents": [EVENTS]}', 'n_bad_escape_key': b'{"a\\q": 1, "traceEvents": [EVENTS]}', 'n_form_feed': b'\x0c[EVENTS]', 'n_member_word': b'{"a": yes, "traceEvents": [EVENTS]}', 'n_member_open': b'{"a": [1, "traceEvents": [EVENTS]}', 'n_value_only': b'{"a": 1, 5, "traceEvents": [EVENTS]}', 'n_semicolon': b'[EVENTS];',
    'i_byte_order_mark': b'\xef\xbb\xbf[EVENTS]', 'i_list_without_brackets': b'EVENTS',
    'r_nothing': b'', 'r_blanks': b' \n', 'r_true': b'true', 'r_number': b'12', 'r_string': b'"abc"', 'r_empty_array': b'[]', 'r_empty_object': b'{}', 'r_no_trace': b'{"a": [1, 2]}', 'r_open_array': b'[', 'r_open_object': b'{', 'r_close': b']', 'r_words': b'some words', 'r_utf16': '[{}]'.encode('utf-16'), 'r_events_word': b'{"traceEvents": yes}',
    'r_event_words': b'{"traceEvents": [{"ph": ?}]}', 'r_open_event': b'[{"ph": "X", ', 'r_deep': b'[' * 200000, 'r_deep_objects': b'{"a":' * 200000, 'r_bom_only': b'\xef\xbb\xbf', 'r_cut_key': b'{"traceEv', 'r_bad_member': b'{"a": tru}', 'r_nul': b'\0', 'r_quote': b'"',
}
# JSON all through, but no trace: there is no place at which it is at fault.
SOUND_REFUSALS = {'r_nothing', 'r_blanks', 'r_empty_array', 'r_empty_object', 'r_no_trace', 'r_bom_only'}


def shown(value):
    """Python's str() of a JSON value, as the operator table prints it."""
    return value if isinstance(value, str) else str(value)


class Conformance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server()
        cls.server.__enter__()
        cls.number = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def send(self, document):
        """The answer, and the shapes by operator when it was taken."""
        type(self).number += 1
        answer = self.server.put('conformance', 'w%d.pt.trace.json' % self.number, document)
        self.assertIn(answer.status, (201, 415, 422) if document else (400,), answer.body[:500])
        if answer.status != 201:
            return answer, None
        table = self.server.get('/api/v1/traces/%d/operators' % answer.json()['id'], group_by='name_shape', limit=100)
        self.assertEqual(table.status, 200, table.body[:500])
        return answer, {row['name']: row['input_shape'] for row in table.json()['rows']}

    def as_argument(self, value):
        """The same with the value among the arguments of the event in the midst; also where that begins and ends."""
        start = HEAD + BEFORE + (EVENT % ('probe', 50)).encode()
        answer, shapes = self.send(start + value + b'}}' + AFTER + b']}')
        return answer, shapes, (len(HEAD + BEFORE), len(start + value) + 2)

    def as_member(self, value):
        start = HEAD + BEFORE + AFTER[2:] + b'], "unknown": '
        answer, shapes = self.send(start + value + b', "traceName": "t"}')
        return answer, shapes, (len(start) - 13, len(start + value) + 20)

    def assert_neighbours(self, shapes):
        self.assertEqual((shapes.get('before'), shapes.get('after')), ('[1]', '[2]'))

    def assert_warned(self, answer, place, document_bytes=None):
        """There is a warning, and the first one stands at the fault (a surplus bracket is noticed a little later)."""
        offsets = [w['first_offset'] for w in answer.json()['warnings'] if w['first_offset'] is not None]
        self.assertTrue(offsets, 'no warning with a place: %s' % answer.json()['warnings'])
        if place:
            self.assertLessEqual(place[0], min(offsets))
            self.assertLessEqual(min(offsets), place[1] + 40)

    def test_valid_values(self):
        for name, text in Y.items():
            expected = shown(json.loads(text)) if text != 'null' else '[]'  # no shape at all
            with self.subTest('y_' + name):
                answer, shapes, _ = self.as_argument(text.encode())
                self.assertEqual((answer.status, answer.json()['warnings']), (201, []))
                self.assert_neighbours(shapes)
                self.assertEqual(shapes['probe'], expected)
            with self.subTest('y_' + name, way='as_member'):
                answer, shapes, _ = self.as_member(text.encode())
                self.assertEqual((answer.status, answer.json()['warnings']), (201, []))
                self.assert_neighbours(shapes)

    def test_invalid_values(self):
        for name, text in N.items():
            with self.assertRaises(ValueError, msg='the suite is wrong: n_' + name):
                json.loads(text, parse_constant=self.refuse_constant)
            for way in (self.as_argument, self.as_member):
                with self.subTest('n_' + name, way=way.__name__):
                    answer, shapes, place = way(text.encode())
                    self.assertEqual(answer.status, 201, answer.body[:300])
                    self.assert_warned(answer, place)
                    # What is repaired may reach over the event itself, never over its neighbours.
                    self.assert_neighbours(shapes)

    @staticmethod
    def refuse_constant(word):
        raise ValueError(word)

    def test_what_is_left_open(self):
        for name, (text, promise) in I.items():
            with self.subTest('i_' + name):
                answer, shapes, place = self.as_argument(text)
                self.assertEqual(answer.status, 201, answer.body[:300])
                self.assert_neighbours(shapes)
                if promise == 'warned':
                    self.assert_warned(answer, place)
                else:
                    self.assertEqual(shapes['probe'], promise)
            with self.subTest('i_' + name, way='as_member'):
                answer, shapes, place = self.as_member(text)
                self.assertEqual(answer.status, 201, answer.body[:300])
                self.assert_neighbours(shapes)

    def test_documents(self):
        for name, document in DOCUMENTS.items():
            document = document.replace(b'EVENTS', EVENTS)
            with self.subTest(name):
                answer, shapes = self.send(document)
                if name.startswith('r_'):
                    self.assertNotEqual(answer.status, 201)
                    offset = answer.json().get('byte_offset')
                    if name not in SOUND_REFUSALS:
                        self.assertTrue(offset is not None and 0 <= offset <= len(document), answer.json())
                    continue
                self.assertEqual(answer.status, 201, answer.body[:300])
                self.assert_neighbours(shapes)
                if name.startswith('n_'):
                    self.assert_warned(answer, None)
                else:
                    self.assertEqual(answer.json()['warnings'], [])

    def test_numbers_of_times(self):
        """Times are numbers of their own: exact, whatever their form."""
        for text, ns in (('1', 1000), ('1.5', 1500), ('15e-1', 1500), ('1.5E3', 1500000), ('0.001', 1), ('1.0009', 1001), ('9007199254740.993', 9007199254740993), ('0', 0), ('-0', 0), ('1e0', 1000)):
            with self.subTest(text):
                answer, _ = self.send(('[{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": %s}]' % text).encode())
                # A hundred days for one event: the timeline, not the reader, remarks on it.
                warnings = [w for w in answer.json()['warnings'] if w['code'] != 'absurd_duration']
                self.assertEqual((answer.status, warnings), (201, []))
                self.assertEqual(answer.json()['duration_ns'], ns)

    def test_the_suite_is_large_enough(self):
        self.assertGreater(len(Y) + len(N) + len(I) + len(DOCUMENTS), 300)
        self.assertTrue(math.isinf(json.loads('1e400')))


if __name__ == '__main__':
    kinetoscope.main()
