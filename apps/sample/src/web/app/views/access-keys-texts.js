import { load } from '../language.js';
import { stylesheet } from '../stylesheet.js';

// Before the texts of `access-keys.js` are read. The files of the first view have no place for them.
await Promise.all([load('access-keys/'), stylesheet('access-keys.css')]);
