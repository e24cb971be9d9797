// Which letter and colour stands for which algorithm. The letter tells them apart, the
// colour helps; the hues are those of Okabe and Ito, "Color Universal Design" (2008).

export const leftAlone = 'library_default';

const colours = 7;

// codes gives every algorithm its letter and the class of its colour: A to Z in the order of
// their names, whatever order they come in. The library's own choice has a dot and no colour.
export function codes(names) {
  const map = new Map([[leftAlone, { letter: '·', class: 'k0', name: leftAlone }]]);
  const sorted = [...new Set(names)].filter((n) => n && n !== leftAlone).sort();
  sorted.forEach((name, i) => {
    // With more algorithms than colours the pattern differs, then the letter alone.
    const round = Math.floor(i / colours);
    map.set(name, { letter: letter(i), class: `k${1 + (i % colours)}${round % 2 === 1 ? ' dots' : ''}`, name });
  });
  return map;
}

function letter(i) {
  const a = String.fromCharCode(65 + (i % 26));
  return i < 26 ? a : a + String(Math.floor(i / 26) + 1);
}

// Steps of the sequential scales: a value belongs to the last step whose bound it reaches.
const gainSteps = [0, 1.005, 1.05, 1.1, 1.25, 1.5, 2];
const doubtSteps = [0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5];

export const gainStep = (x) => step(gainSteps, x);
export const doubtStep = (x) => step(doubtSteps, x);

function step(bounds, x) {
  let s = 0;
  while (s + 1 < bounds.length && x >= bounds[s + 1]) s++;
  return s;
}

// scaleTexts are the words of a legend for the steps of a scale.
export function scaleTexts(kind) {
  const [bounds, write] = kind === 'gain'
    ? [gainSteps, (x) => `×${x}`] : [doubtSteps, (x) => `${Math.round(100 * x)} %`];
  return bounds.map((b, i) => (i === 0 ? `below ${write(bounds[1])}` : `from ${write(b)}`));
}

// drift classes a change of time b over a: slower r, faster f, three steps each.
export function driftClass(change) {
  const size = Math.max(change, 1 / change);
  const s = size >= 1.5 ? 3 : size >= 1.2 ? 2 : size >= 1.05 ? 1 : 0;
  if (s === 0) return 'same';
  return `${change > 1 ? 'slower' : 'faster'}${s}`;
}

// lines are the colour (a CSS variable's name) and dashes of the graph's lines: a colour for
// each collective, dashes for each library.
export function lines(problems) {
  const collectives = [...new Set(problems.map((p) => p.collective))];
  const libraries = [...new Set(problems.map((p) => p.library))];
  const dashes = [[], [6, 4], [2, 3], [9, 3, 2, 3]];
  return problems.map((p) => ({
    colour: `--line${1 + (collectives.indexOf(p.collective) % 7)}`,
    dash: dashes[libraries.indexOf(p.library) % dashes.length],
  }));
}
