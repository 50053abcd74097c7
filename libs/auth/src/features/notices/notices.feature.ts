import { defineFeature } from '../../foundation/realm/feature';
import { NoticeEvents, Notices } from './notices';

/** Mails to the owners of accounts about changes. Which of them are sent is the option `mail.notices`. */
export const notices = defineFeature('notices', { providers: [Notices, NoticeEvents] });
