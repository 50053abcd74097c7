import { option } from '../../kit';

/** Sign-in with a mailed code. Needs `features.emailCode`. */
export interface EmailCodeOptions {
  /**
   * Minutes for which a code is valid, 1 to 10 (the maximum of NIST SP 800-63B §3.1.3.2 for codes that are sent).
   *
   * @default 10
   * @env SVC_CODE_EXPIRE
   */
  expireMinutes?: option.Duration;

  /**
   * Number of digits of a code, 6 to 10. A code with fewer digits is guessed more often: see docs/email-code.md.
   *
   * @default 8
   * @env SVC_CODE_DIGITS
   */
  digits?: number;

  /**
   * Page that a link in the mail opens, beside the code. Its fragment has the parameter `code`. The page sends the code
   * itself: the link signs in only in the browser that asked for it. `https`, or `http` on localhost outside production, and
   * no fragment. Without it, the mail has no link. A function returns the whole link instead; see docs/mail.md.
   *
   * @default none
   * @env SVC_CODE_URL
   */
  frontendUrl?: string | ((code: string, email: string, context: { guard: string }) => string);
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * Both routes of the sign-in with a mailed code, together.
     *
     * @default { maxAttempts: 10, decaySeconds: 60 }
     * @env SVC_CODE_MAX_ATTEMPTS, SVC_CODE_DECAY
     */
    emailCode?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly emailCode: option.WithDefaults<EmailCodeOptions, 'frontendUrl'>;
  }
}

export const EMAIL_CODE_OPTIONS = {
  features: { emailCode: option.feature({ default: false, env: 'FEATURE_EMAIL_CODE' }) },
  rateLimits: { emailCode: option.rateLimit('CODE', { maxAttempts: 10, decaySeconds: 60 }) },
  emailCode: option.publicBlock({
    // NIST SP 800-63B §3.1.3.2 allows 10 minutes, and 6 digits at least.
    expireMinutes: option.minutes(1, 10, { default: 10, env: 'CODE_EXPIRE' }),
    digits: option.count(6, 10, { default: 8, env: 'CODE_DIGITS' }),
    frontendUrl: option.text({
      env: 'CODE_URL',
      or: 'function',
      resolve: (url) => url || undefined,
      mailedUrl: {
        optional: true,
        // The code is in the fragment of the link, which browsers send to no server.
        withoutFragment: true,
        cure: 'Set it to the page that the mailed link opens, such as https://app.example.com/sign-in, or remove it.',
      },
    }),
  } satisfies option.TableOf<EmailCodeOptions>),
} satisfies option.OptionTree;
