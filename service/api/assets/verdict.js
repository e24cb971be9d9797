// The verdicts about the selection files of a campaign, as its report and the terminal show them.

import { command, el, panel, row, table } from './dom.js';
import { percent, point, ratio } from './format.js';

// verdictPanel shows the verdicts and the points with the highest risk. It is hidden before there are any.
export function verdictPanel() {
  const list = el('div', { class: 'verdicts' });
  const risk = table('Points with the highest risk', [
    { text: 'library' }, { text: 'collective' }, { text: 'point' },
    { text: 'selected', class: 'long' }, { text: 'tuned / default', class: 'n' }, { text: 'risk', class: 'n' }], { class: 'cards' });
  const details = el('details', {}, el('summary', { text: 'Points with the highest risk' }), risk.node,
    el('small', { text: 'Risk: by how much the selection is expected to be slower than the default.' }));
  const node = el('div', { class: 'verdicts', hidden: true }, list, details);
  let drawn = '';
  return {
    node,
    show(c) {
      const verdicts = c.verdicts ?? [];
      const now = JSON.stringify(verdicts);
      if (now === drawn) return;
      drawn = now;
      node.hidden = verdicts.length === 0;
      list.replaceChildren(...verdicts.map(verdictNode));
      const points = verdicts.flatMap((v) => (v.riskiest ?? []).map((p) => [v.library, p]));
      details.hidden = points.length === 0;
      risk.body.replaceChildren(...points.map(([library, p]) => row(risk, [
        library, p.collective, point(p), p.algorithm, p.ratio > 0 ? `${ratio(p.ratio)} ${p.evidence}` : '–', percent(p.risk)])));
    },
  };
}

function verdictNode(v) {
  const line = (name, ...text) => el('div', {}, el('dt', { text: name }), el('dd', {}, ...text));
  return panel(`${v.library}: ${v.gain_text}`, { class: `verdict ${v.evidence}` }, null, el('dl', {},
    (v.open ?? []).map((text) => line('open', text)),
    line('slower than the default', v.slower_text),
    line('cost', v.cost_text),
    line('next', v.next.why, v.command ? [el('br'), command(v.command)] : [])));
}

// gains returns a short line for each library, as "mpich 6.6 % verified".
export function gains(c) {
  return (c.verdicts ?? []).map((v) => `${v.library} ${v.gain ? `${percent(v.gain.value)} ${v.evidence}` : 'unknown'}`);
}
