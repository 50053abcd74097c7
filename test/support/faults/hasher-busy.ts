import { AuthException } from '@svc/auth';

/** What a hasher throws that has no free place: 503. */
export const hasherBusy = (): AuthException =>
  new AuthException('hasher_busy', {
    status: 503,
    text: { key: 'server.busy', params: { seconds: 1 } },
    headers: { 'Retry-After': '1' },
  });
