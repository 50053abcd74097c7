import { h } from '../dom.js';

const STATUS = {
  200: 'OK',
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  429: 'Too many requests',
};

/** What a server answered to a request that shows what it does. */
export const answer = (status, message) =>
  h(
    'p',
    { class: `answer ${status === 200 ? 'good' : ''}` },
    h('b', {}, `${status} ${STATUS[status] ?? ''}`),
    ` ${message}`,
  );
