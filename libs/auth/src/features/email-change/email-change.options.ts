import { option } from '../../kit';

/** Change of the email. Needs `features.emailChange`. */
export interface EmailChangeOptions {
  /**
   * Page that the link in the mail to the new address opens. Its query has the parameter `token`, which the page posts to
   * `/email/change/confirm`. `https`, or `http` on localhost outside production. Required. A function returns the whole link
   * instead; see docs/mail.md.
   *
   * @default none
   * @env SVC_EMAIL_CHANGE_CONFIRM_URL
   */
  confirmUrl?: string | ((token: string, email: string, context: { guard: string }) => string);

  /**
   * Page that the link in the mail to the former address opens. Its query has the parameter `token`, which the page posts
   * to `/email/change/undo`. `https`, or `http` on localhost outside production. Required. A function returns the whole link
   * instead; see docs/mail.md.
   *
   * @default none
   * @env SVC_EMAIL_CHANGE_UNDO_URL
   */
  undoUrl?: string | ((token: string, email: string, context: { guard: string }) => string);

  /**
   * Minutes for which the link to the new address is valid, 1 to 1440 (a day).
   *
   * @default 60
   * @env SVC_EMAIL_CHANGE_EXPIRE
   */
  expireMinutes?: option.Duration;

  /**
   * Days for which the link to the former address undoes the change, 1 to 30. For so long, no registration can take the
   * former address.
   *
   * @default 7
   * @env SVC_EMAIL_CHANGE_UNDO_DAYS
   */
  undoDays?: option.Duration;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * `POST /email/change`. Besides, an address gets at most five mails of `POST /email/change`
     * in an hour, whatever their number of senders.
     *
     * @default { maxAttempts: 10, decaySeconds: 3600 }
     * @env SVC_EMAIL_CHANGE_MAX_ATTEMPTS, SVC_EMAIL_CHANGE_DECAY
     */
    emailChange?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly emailChange: option.WithDefaults<EmailChangeOptions, 'confirmUrl' | 'undoUrl'>;
  }
}

export const EMAIL_CHANGE_OPTIONS = {
  features: { emailChange: option.feature({ default: false, env: 'FEATURE_EMAIL_CHANGE' }) },
  rateLimits: { emailChange: option.rateLimit('EMAIL_CHANGE', { maxAttempts: 10, decaySeconds: 3600 }) },
  emailChange: option.publicBlock({
    confirmUrl: option.text({
      env: 'EMAIL_CHANGE_CONFIRM_URL',
      or: 'function',
      mailedUrl: {
        cure: 'Set it to the page that the link to the new address opens, such as https://app.example.com/confirm-email.',
      },
    }),
    undoUrl: option.text({
      env: 'EMAIL_CHANGE_UNDO_URL',
      or: 'function',
      mailedUrl: {
        cure: 'Set it to the page that the link to the former address opens, such as https://app.example.com/undo-email.',
      },
    }),
    expireMinutes: option.minutes(1, 24 * 60, { default: 60, env: 'EMAIL_CHANGE_EXPIRE' }),
    // For so long, a person who can read the mails of the former address can take the account back.
    undoDays: option.days(1, 30, { default: 7, env: 'EMAIL_CHANGE_UNDO_DAYS' }),
  } satisfies option.TableOf<EmailChangeOptions>),
} satisfies option.OptionTree;
