import { AuthException } from '../kernel/auth.exception';

/** Too many failed attempts of an account: 429 under the field of the endpoint, with the wait. */
export class TooManyFailures extends AuthException {
  constructor(field: string, seconds: number) {
    super('too_many_failures', {
      status: 429,
      errors: { [field]: [{ key: 'auth.throttled', params: { seconds } }] },
      headers: { 'Retry-After': String(seconds) },
    });
  }
}
