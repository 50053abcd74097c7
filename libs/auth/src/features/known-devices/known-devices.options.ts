import { option } from '../../kit';

/** Recognition of devices. Needs `features.knownDevices`. */
export interface KnownDeviceOptions {
  /**
   * Mails the owner of the account when a user signs in on a new device. Not for the first device of a user. At most five
   * mails to one account in an hour.
   *
   * @default true with `mail.mailer`, otherwise false
   * @env SVC_KNOWN_DEVICES_MAIL
   */
  mail?: boolean;

  /**
   * Page that the link in this mail opens. Its query has the parameter `token`, which the page posts to `/sessions/report`;
   * at an extra guard also `guard`, its name. `https`, or `http` on localhost outside production. Required with
   * {@link mail}. A function returns the whole link instead; see docs/mail.md.
   *
   * @default none
   * @env SVC_KNOWN_DEVICES_URL
   */
  frontendUrl?: string | ((token: string, email: string, context: { guard: string }) => string);

  /**
   * Minutes for which the link is valid, 1 to 43200 (30 days).
   *
   * @default 10080
   * @env SVC_KNOWN_DEVICES_EXPIRE
   */
  expireMinutes?: option.Duration;
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly knownDevices: option.WithDefaults<KnownDeviceOptions, 'frontendUrl'>;
  }
}

export const KNOWN_DEVICES_OPTIONS = {
  features: { knownDevices: option.feature({ default: false, env: 'FEATURE_KNOWN_DEVICES' }) },
  knownDevices: option.publicBlock({
    mail: option.flag({ env: 'KNOWN_DEVICES_MAIL', resolve: (given, { mail }) => given ?? Boolean(mail?.mailer) }),
    frontendUrl: option.text({
      env: 'KNOWN_DEVICES_URL',
      or: 'function',
      mailedUrl: {
        cure: 'Set it to the page that the link in the mail about a new sign-in opens, such as https://app.example.com/unknown-sign-in,',
      },
    }),
    expireMinutes: option.minutes(1, 30 * 24 * 60, { default: 10_080, env: 'KNOWN_DEVICES_EXPIRE' }),
  } satisfies option.TableOf<KnownDeviceOptions>),
} satisfies option.OptionTree;
