// Letters and colours of algorithms, lines and steps of scales. The letter identifies an
// algorithm, the colour helps; the hues are those of Okabe and Ito, "Color Universal
// Design" (2008).

// libraryDefault is the name of the choice that leaves the algorithm to the library.
export const libraryDefault = 'library_default';

const colours = 7;

// codes returns a map from algorithm to {letter, class, name}. Listed algorithms get A, B, ...
// in the order of their names, then others that occur. The library's default has a dot and no
// colour.
export function codes(listed, others = []) {
  const map = new Map([[libraryDefault, { letter: '·', class: 'k0', name: libraryDefault }]]);
  for (const names of [listed, others]) {
    for (const name of [...new Set(names)].sort()) {
      if (name && !map.has(name)) map.set(name, code(map.size - 1, name));
    }
  }
  return map;
}

// code is the look of the algorithm with index i. With more algorithms than colours the
// pattern differs as well.
function code(i, name) {
  const round = Math.floor(i / colours);
  return { letter: letter(i), class: `k${1 + (i % colours)}${round % 2 === 1 ? ' dots' : ''}`, name };
}

function letter(i) {
  const a = String.fromCharCode(65 + (i % 26));
  return i < 26 ? a : a + String(Math.floor(i / 26) + 1);
}

// A scale has a lower bound for each of the seven steps of the colour ramp r0 to r6 and writes
// a bound as text.
const percentText = (x) => `${Math.round(100 * x)} %`;
export const gainScale = { bounds: [0, 1.005, 1.05, 1.1, 1.25, 1.5, 2], text: (x) => `×${x}` };
export const mistakeScale = { bounds: [0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5], text: percentText };
export const slowdownScale = { bounds: [0, 1.01, 1.05, 1.1, 1.25, 1.5, 2], text: (x) => percentText(x - 1) };

// countScale divides the counts from 1 to most into six steps; step 0 is a count of 0.
export function countScale(most) {
  const bounds = [0, 1, 2, 3, 4, 5, 6].map((i) => (most <= 6 || i === 0 ? i : 1 + Math.round(((i - 1) * (most - 1)) / 5)));
  return { bounds: bounds.filter((b) => b <= Math.max(most, 1)), text: String };
}

// step returns the last step of a scale whose bound x reaches.
export function step(scale, x) {
  let s = 0;
  while (s + 1 < scale.bounds.length && x >= scale.bounds[s + 1]) s++;
  return s;
}

// scaleTexts returns the legend text of each step of a scale.
export function scaleTexts({ bounds, text }) {
  return bounds.map((b, i) => (i === 0 ? `below ${text(bounds[1])}` : `from ${text(b)}`));
}

// driftClass returns the class of a ratio of two times: slower or faster in three steps.
export function driftClass(ratio) {
  const size = Math.max(ratio, 1 / ratio);
  const s = size >= 1.5 ? 3 : size >= 1.2 ? 2 : size >= 1.05 ? 1 : 0;
  if (s === 0) return 'same';
  return `${ratio > 1 ? 'slower' : 'faster'}${s}`;
}

// lineStyles returns for each problem the colour (the name of a CSS variable) and the dashes of
// its lines: a colour for each collective, dashes for each library.
export function lineStyles(problems) {
  const collectives = [...new Set(problems.map((p) => p.collective))];
  const libraries = [...new Set(problems.map((p) => p.library))];
  const dashes = [[], [6, 4], [2, 3], [9, 3, 2, 3]];
  return problems.map((p) => ({
    colour: `--line${1 + (collectives.indexOf(p.collective) % 7)}`,
    dash: dashes[libraries.indexOf(p.library) % dashes.length],
  }));
}
