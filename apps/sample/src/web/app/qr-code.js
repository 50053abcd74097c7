import { svg } from './dom.js';
import qrcode from './vendor/qrcode-generator.js';

/** The width of the quiet zone, in modules (ISO/IEC 18004). */
const QUIET = 4;

/** The width of a module in pixels: a whole number, so that all are equal. */
const MODULE = 4;

/** A text as a QR code. It is dark on light in every colour scheme: many cameras do not read the opposite. */
export function qrCode(text, label) {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const all = Array.from({ length: code.getModuleCount() }, (_, i) => i);
  const dark = all.flatMap((row) =>
    all.filter((column) => code.isDark(row, column)).map((column) => `M${column + QUIET} ${row + QUIET}h1v1h-1z`),
  );
  const size = all.length + 2 * QUIET;
  return svg(
    'svg',
    {
      class: 'qr',
      role: 'img',
      'aria-label': label,
      viewBox: `0 0 ${size} ${size}`,
      width: size * MODULE,
      'shape-rendering': 'crispEdges',
    },
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: dark.join(''), fill: '#000' }),
  );
}
