import type { GuardConfig } from '../../foundation/config/auth-config';
import { type Feature, defineFeature } from '../../foundation/realm/feature';
import { unmailedUsers } from '../../identity/users/provider-checks';
import { mailsOf } from '../mail/mail-gate';
import { unknownNames } from '../mail/mail.feature';
import { NoticeEvents, Notices } from './notices';
import { NOTICES_OPTIONS, isMailed } from './notices.options';

function optionErrors(guard: GuardConfig, manifests: readonly Feature[]): string[] {
  const { mail, nameOf } = guard;
  const option = nameOf('mail.notices');
  const kinds = [...mailsOf(manifests)].flatMap(([kind, stated]) => (stated.class === 'change' ? kind : []));
  return [
    ...(typeof mail.notices === 'boolean' ? [] : unknownNames(option, mail.notices, kinds.toSorted(), 'notice')),
    ...(isMailed(guard) && !mail.mailer
      ? [`${option} needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer.`]
      : []),
  ];
}

/** Mails to the owners of accounts about changes. Which of them are sent is the option `mail.notices`. */
export const notices = defineFeature('notices', {
  options: NOTICES_OPTIONS,
  configErrors: ({ guards }, _production, _sources, manifests) => [
    ...new Set(guards.flatMap((guard) => optionErrors(guard, manifests))),
  ],
  userErrors: (users, guard) => [isMailed(guard) && unmailedUsers(users, 'mail.notices', guard)],
  providers: [Notices, NoticeEvents],
});
