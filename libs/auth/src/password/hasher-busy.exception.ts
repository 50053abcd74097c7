import { AuthException } from '../kernel/auth.exception';

const RETRY_AFTER_SECONDS = 2;

/** More password checks wait than the server can answer in reasonable time: 503 with `Retry-After`. */
export class HasherBusy extends AuthException {
  constructor(seconds = RETRY_AFTER_SECONDS) {
    super('hasher_busy', {
      status: 503,
      text: { key: 'server.busy', params: { seconds } },
      headers: { 'Retry-After': String(seconds) },
    });
  }
}
