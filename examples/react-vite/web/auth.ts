import { createAuthClient } from '@svc/auth-client';

/** One for the page: a client in a component would be a new one for each mount. */
export const auth = createAuthClient({ url: '/auth', refreshToken: 'cookie' });
