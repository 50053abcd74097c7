import { load } from '../language.js';

// Before the texts of `identities.js` are read: only a server with a provider needs them.
await load('identities/');
