import { config } from '../config.js';
import { download, h } from '../dom.js';
import { button, copyButton } from '../feedback.js';
import { t } from '../language.js';

/** New recovery codes. They are shown only once. @param title the heading */
export function recoveryCodes(codes, title = t`Your recovery codes`) {
  const text = `${codes.join('\n')}\n`;
  const save = () => {
    const heading = t`Recovery codes for ${config.appName}, each valid once`;
    download('recovery-codes.txt', 'text/plain', `${heading}\n\n${text}`);
  };
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'codes-heading' },
    h('h2', { id: 'codes-heading' }, title),
    h(
      'p',
      {},
      t`If you lose your authenticator, each code signs you in once. Keep them in a safe place: they are not shown again.`,
    ),
    h(
      'ul',
      { class: 'codes' },
      codes.map((code) => h('li', {}, h('code', {}, code))),
    ),
    h('p', { class: 'row' }, copyButton(t`Copy codes`, text), button(t`Download codes`, save)),
  );
}
