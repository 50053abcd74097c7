import { load } from '../language.js';
import { stylesheet } from '../stylesheet.js';

// Before the texts of `history.js` are read. The files of the first view have no place for them.
await Promise.all([load('history/'), stylesheet('session.css')]);
