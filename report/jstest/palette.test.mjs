import './load.mjs';
import assert from 'node:assert/strict';
import test from 'node:test';

const { codes, countScale, driftClass, gainScale, lineStyles, mistakeScale, scaleTexts, slowdownScale, step } = await import('../assets/palette.js');

test('letters follow the names in whatever order; the default has none', () => {
  const map = codes(['ring', 'binomial', 'library_default', 'ring', '', undefined]);
  assert.deepEqual([...map.values()].map((k) => `${k.letter} ${k.name} ${k.class}`), ['· library_default k0', 'A binomial k1', 'B ring k2']);
});

test('no two of many algorithms look alike', () => {
  const looks = [...codes(Array.from({ length: 60 }, (_, i) => `a${String(i).padStart(2, '0')}`)).values()].map((k) => k.letter);
  assert.equal(new Set(looks).size, 61);
});

test('listed algorithms have their letters first', () => {
  const map = codes(['ring', 'tree'], ['ring', 'binomial', 'library_default']);
  assert.deepEqual([...map.values()].map((k) => `${k.letter} ${k.name}`), ['· library_default', 'A ring', 'B tree', 'C binomial']);
});

test('steps of the scales', () => {
  assert.deepEqual([0.9, 1, 1.005, 1.2, 2, 50].map((x) => step(gainScale, x)), [0, 0, 1, 3, 6, 6]);
  assert.deepEqual([0, 0.01, 0.3, 1].map((x) => step(mistakeScale, x)), [0, 1, 4, 6]);
  assert.deepEqual([1, 1.05, 1.1, 9].map((x) => step(slowdownScale, x)), [0, 2, 3, 6]);
  assert.equal(scaleTexts(gainScale).length, 7);
  assert.deepEqual(scaleTexts(slowdownScale).slice(0, 2), ['below 1 %', 'from 1 %']);
});

test('counts have a step each as long as there are enough', () => {
  assert.deepEqual([0, 1, 2, 3].map((n) => step(countScale(3), n)), [0, 1, 2, 3]);
  assert.deepEqual([0, 1, 5, 20].map((n) => step(countScale(20), n)), [0, 1, 2, 6]);
});

test('drift is the same either way', () => {
  assert.deepEqual([1, 1.04, 1.1, 1 / 1.1, 1.3, 1.5, 0.5].map(driftClass), ['same', 'same', 'slower1', 'faster1', 'slower2', 'slower3', 'faster3']);
});

test('a colour for each collective, dashes for each library', () => {
  const [a, b, c] = lineStyles([{ library: 'x', collective: 'p' }, { library: 'x', collective: 'q' }, { library: 'y', collective: 'p' }]);
  assert.notEqual(a.colour, b.colour);
  assert.equal(a.colour, c.colour);
  assert.notDeepEqual(a.dash, c.dash);
});
