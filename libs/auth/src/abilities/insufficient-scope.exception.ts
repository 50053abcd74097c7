import { AuthException } from '../kernel/auth.exception';

/** The token may not do this: 403 with the abilities that would (RFC 6750 §3.1). */
export class InsufficientScope extends AuthException {
  /**
   * @param abilities what is required
   * @param met whether all of them are required, or any
   */
  constructor(abilities: readonly string[], met: 'every' | 'some') {
    const listed = abilities.join(met === 'every' ? ' and ' : ' or ');
    const challenge = `Bearer error="insufficient_scope", error_description="The token lacks a required ability", scope="${abilities.join(' ')}"`;
    super('insufficient_scope', {
      status: 403,
      text: { key: 'auth.insufficient_scope', params: { abilities: listed } },
      headers: { 'WWW-Authenticate': challenge },
    });
  }
}
