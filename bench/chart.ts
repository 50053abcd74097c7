import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measured } from './report';
import { ADAPTERS } from './server';
import { NAMES } from './groups/group';
import { machine } from './markdown';
import { median } from './statistics';

const FILE = join(__dirname, '../docs/images/guarded-requests.svg');

/** The bars of each adapter, by the keys of the scenarios without the adapter. */
const BARS: Readonly<Record<string, string>> = {
  lean: 'a guard with the same checks only',
  ours: '@svc/auth',
  bymax: '@bymax-one/nest-auth (reads no user)',
  keyObject: 'passport-jwt, KeyObject (no revocation)',
  'better-auth.redis': 'better-auth, sessions in Redis',
  'better-auth-nest': '@thallesp/nestjs-better-auth',
  'better-auth.database': 'better-auth',
};

const [WIDTH, LABELS, ROW, BAR, HEADING] = [760, 300, 26, 16, 34];

const STYLE = `text { font: 13px system-ui, sans-serif; fill: #1f2328 } .heading { font-weight: 600 }
  .figure { font-size: 12px } .other { fill: #b6bec8 } .ours { fill: #2563eb } .note { font-size: 11px; fill: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .other { fill: #4b5563 } .ours { fill: #60a5fa } .note { fill: #9aa4af }
  }`;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

interface Bar {
  key: string;
  label: string;
  perSecond: number;
}

/** The chart of the page on performance: the guarded requests a second of each application, as an SVG. */
export function guardedChart({ samples }: Measured): string {
  const groups = ADAPTERS.map((adapter) => ({
    name: NAMES[adapter],
    bars: Object.entries(BARS).flatMap(([key, label]): Bar[] => {
      const measured = samples[`${key}.${adapter}`];
      return measured ? [{ key, label, perSecond: median(measured.map(({ perSecond }) => perSecond)) }] : [];
    }),
  }));
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ perSecond }) => perSecond)));
  const scale = (WIDTH - LABELS - 70) / most;
  let y = 0;
  const lines = groups.flatMap(({ name, bars }) => {
    y += HEADING;
    const heading = `<text class="heading" x="0" y="${y - 12}">${name}</text>`;
    return [heading, ...bars.map((bar) => row(bar, (y += ROW) - ROW, scale))];
  });
  const note = `<text class="note" x="0" y="${y + 18}">${escaped(machine())}, medians; 50 connections</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 26}" viewBox="0 0 ${WIDTH} ${y + 26}" role="img" aria-label="Guarded requests a second">
<style>${STYLE}</style>
${[...lines, note].join('\n')}
</svg>
`;
}

function row({ key, label, perSecond }: Bar, y: number, scale: number): string {
  const length = Math.max(1, Math.round(perSecond * scale));
  const figure = Math.round(perSecond).toLocaleString('en');
  return (
    `<text x="0" y="${y + 13}">${escaped(label)}</text>` +
    `<rect class="${key === 'ours' ? 'ours' : 'other'}" x="${LABELS}" y="${y}" width="${length}" height="${BAR}" rx="2"/>` +
    `<text class="figure" x="${LABELS + length + 6}" y="${y + 13}">${figure}</text>`
  );
}

/** With `BENCH_WRITE`, replaces the chart of the page. */
export async function publishChart(guarded: Measured | undefined): Promise<void> {
  if (process.env.BENCH_WRITE && guarded) await writeFile(FILE, guardedChart(guarded));
}
