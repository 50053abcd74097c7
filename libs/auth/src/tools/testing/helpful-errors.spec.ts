import { linkIn } from './recorders';
import { SoftAuthenticator } from '../../features/passkeys/testing';

describe('the errors of the testing kit', () => {
  it('show the text of a mail that has no link', () => {
    const mail = { to: 'ada@example.com', subject: 'Hello', text: 'No address here.', html: '' };
    expect(() => linkIn(mail)).toThrow('the mail has no link: No address here.');
    expect(linkIn({ ...mail, text: 'Open https://app.example.com/a?b=1 now' }).search).toBe('?b=1');
  });

  it('name a passkey that an authenticator does not have', () => {
    const device = new SoftAuthenticator('https://app.example.com');
    const options = { challenge: 'AAAA', rpId: 'example.com' };
    expect(() => device.get(options)).toThrow('call create() first');
    expect(() => device.get(options, {}, 'abc')).toThrow('this authenticator has no passkey abc');
  });
});
