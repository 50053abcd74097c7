import { config } from '../config.js';
import { download, h } from '../dom.js';
import { button, say } from '../feedback.js';

/** New recovery codes. They are shown only once. */
export function recoveryCodes(codes) {
  const text = `${codes.join('\n')}\n`;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  };
  const save = () =>
    download('recovery-codes.txt', 'text/plain', `Recovery codes for ${config.appName}, each valid once\n\n${text}`);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'codes-heading' },
    h('h2', { id: 'codes-heading' }, 'Your recovery codes'),
    h(
      'p',
      {},
      'If you lose your authenticator, each code signs you in once. Keep them in a safe place: they are not shown again.',
    ),
    h(
      'ul',
      { class: 'codes' },
      codes.map((code) => h('li', {}, h('code', {}, code))),
    ),
    h('p', { class: 'row' }, button('Copy', copy), button('Download', save)),
  );
}
