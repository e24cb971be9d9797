import './load.mjs';
import assert from 'node:assert/strict';
import test from 'node:test';

const { codes, doubtStep, driftClass, gainStep, lines, scaleTexts } = await import('../assets/palette.js');

test('letters follow the names, whatever their order; the default has none', () => {
  const map = codes(['ring', 'binomial', 'library_default', 'ring', '', undefined]);
  assert.deepEqual([...map.values()].map((k) => `${k.letter} ${k.name} ${k.class}`), ['· library_default k0', 'A binomial k1', 'B ring k2']);
});

test('no two of many algorithms look alike', () => {
  const looks = [...codes(Array.from({ length: 60 }, (_, i) => `a${String(i).padStart(2, '0')}`)).values()].map((k) => k.letter);
  assert.equal(new Set(looks).size, 61);
});

test('steps of the scales', () => {
  assert.deepEqual([0.9, 1, 1.005, 1.2, 2, 50].map(gainStep), [0, 0, 1, 3, 6, 6]);
  assert.deepEqual([0, 0.01, 0.3, 1].map(doubtStep), [0, 1, 4, 6]);
  assert.equal(scaleTexts('gain').length, 7);
});

test('drift is the same either way', () => {
  assert.deepEqual([1, 1.04, 1.1, 1 / 1.1, 1.3, 1.5, 0.5].map(driftClass), ['same', 'same', 'slower1', 'faster1', 'slower2', 'slower3', 'faster3']);
});

test('a colour for each collective, dashes for each library', () => {
  const [a, b, c] = lines([{ library: 'x', collective: 'p' }, { library: 'x', collective: 'q' }, { library: 'y', collective: 'p' }]);
  assert.notEqual(a.colour, b.colour);
  assert.equal(a.colour, c.colour);
  assert.notDeepEqual(a.dash, c.dash);
});
