import { defineFeature, identity, mailing, type manifest, type settings } from '../../kit';
import { Notices } from './notices';
import { NOTICES_OPTIONS, isMailed } from './notices.options';

function optionErrors(guard: settings.GuardConfig, manifests: readonly manifest.Feature[]): string[] {
  const { mail, nameOf } = guard;
  const option = nameOf('mail.notices');
  const kinds = [...mailing.mailsOf(manifests)].flatMap(([kind, stated]) => (stated.class === 'change' ? kind : []));
  return [
    ...(typeof mail.notices === 'boolean'
      ? []
      : mailing.unknownNames(option, mail.notices, kinds.toSorted(), 'notice')),
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
  userErrors: (users, guard) => [isMailed(guard) && identity.unmailedUsers(users, 'mail.notices', guard)],
  providers: [Notices],
});
