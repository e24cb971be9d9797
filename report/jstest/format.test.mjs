import './load.mjs';
import assert from 'node:assert/strict';
import test from 'node:test';

const f = await import('../assets/format.js');
const plain = (text) => text.replaceAll('\u00a0', ' ');

function rows(name, call, table) {
  for (const [input, want] of table) {
    test(`${name} ${JSON.stringify(input)}`, () => assert.equal(plain(call(...[].concat(input))), want));
  }
}

rows('duration', f.duration, [
  [0, '0 s'], [0.0004, '400 µs'], [0.0412, '41.2 ms'], [1, '1 s'], [3.14, '3.1 s'], [119.9, '119.9 s'], [120, '2 min'], [194, '3.2 min'], [7200, '2 h'], [180000, '50 h'], [-90, '-90 s'], [NaN, '–'],
]); // TestUnits has the same rows
rows('callTime', f.callTime, [[1.5e-6, '1.5 µs'], [1.234e-4, '123 µs'], [0.0123, '12.3 ms'], [2, '2 s'], [0, '–'], [-1, '–']]);
rows('hours', f.hours, [[24, '24'], [12.44, '12.4'], [0.0234, '0.023'], [0.00246, '0.0025'], [0, '0']]);
rows('bytes', f.bytes, [[0, '0 B'], [1, '1 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [1048576, '1 MiB'], [3221225472, '3 GiB']]);
rows('ratio', f.ratio, [[1.03, '1.030'], [12.34, '12.3'], [0, '–']]);
rows('percent', f.percent, [[0, '0 %'], [0.0001, '<0.1 %'], [-0.0001, '>-0.1 %'], [-0, '0 %'], [0.0144, '1.4 %'], [0.2, '20 %'], [1, '100 %'], [NaN, '–']]);
rows('count', f.count, [[0, '0'], [999, '999'], [1000, '1 000'], [1234567, '1 234 567']]);
rows('plural', f.plural, [[[1, 'job'], '1 job'], [[2, 'job'], '2 jobs'], [[8, 'process', 'processes'], '8 processes']]);
rows('age', f.age, [[[0, 1000], 'now'], [[0, 59000], '59 s ago'], [[0, 61000], '1 min ago'], [[0, 3 * 3600000], '3 h ago'], [[0, 30 * 3600000], '30 h ago'], [[0, 4 * 86400000], '4 d ago'], [[7200000, 0], 'in 2 h']]);
rows('point', f.point, [[{ nodes: 16, ppn: 4, msg_bytes: 65536 }, '16×4 64 KiB'], [{ nodes: 2, ppn: 1, msg_bytes: 8 }, '2×1 8 B']]);

test("Go's zero time is no moment", () => {
  assert.equal(f.moment('0001-01-01T00:00:00Z'), null);
  assert.equal(f.moment(undefined), null);
  assert.equal(f.moment('2026-03-01T12:00:00Z'), Date.UTC(2026, 2, 1, 12));
});
