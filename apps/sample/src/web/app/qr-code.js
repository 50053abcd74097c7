import { svg } from './dom.js';
import qrcode from './vendor/qrcode-generator.js';

/** Light modules around a code, as ISO/IEC 18004 wants them. */
const QUIET = 4;

/** A text as a QR code: dark on light whatever the page's colours are, or cameras would not read it. */
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
    { class: 'qr', role: 'img', 'aria-label': label, viewBox: `0 0 ${size} ${size}`, 'shape-rendering': 'crispEdges' },
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: dark.join(''), fill: '#000' }),
  );
}
