import { h } from '../dom.js';
import { copyButton } from '../feedback.js';
import { CODE } from '../form.js';
import { t } from '../language.js';

/** The field of the first code. It is below what has to be read first. */
export const FIRST_CODE = { ...CODE, label: t`Code from the app`, autofocus: false };

/** Loads the module that draws QR codes: it is large, and most visits do not need it. */
const loadQrCode = async () => (await import('../qr-code.js')).qrCode;

/** What the user scans or types into the authenticator app. @param title the heading */
export async function scanning({ otpauth_uri: uri }, title) {
  const qrCode = await loadQrCode();
  const secret = new URL(uri).searchParams.get('secret');
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'scan-heading' },
    h('h2', { id: 'scan-heading' }, title),
    // A phone cannot scan its own screen.
    h('a', { class: 'button second on-phone', href: uri }, t`Open the app on this device`),
    h(
      'div',
      { class: 'beside' },
      qrCode(uri, t`QR code for your authenticator app`),
      h(
        'div',
        { class: 'stack' },
        h('p', {}, t`Or type this key into it:`),
        h(
          'p',
          { class: 'row' },
          h('code', { class: 'key' }, secret.match(/.{1,4}/g).join(' ')),
          copyButton(t`Copy key`, secret),
        ),
        h(
          'details',
          {},
          h('summary', {}, t`The complete URI, for apps that accept it`),
          h('p', {}, h('code', { class: 'uri' }, uri)),
        ),
      ),
    ),
  );
}

/** The form for the first code. @param title the heading */
export const firstCode = (codeForm, title) =>
  h('section', { class: 'card', 'aria-labelledby': 'code-heading' }, h('h2', { id: 'code-heading' }, title), codeForm);
