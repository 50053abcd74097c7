import { option } from '../../../kit';

/** The history of accounts. Needs `features.audit`. */
export interface AuditOptions {
  /**
   * Days after which the pruning deletes a line, 1 to 99999.
   *
   * @default 365
   * @env SVC_AUDIT_DAYS
   */
  days?: option.Duration;
}

declare module '../../../foundation/config/auth-config' {
  interface AuthConfig {
    readonly audit: option.WithDefaults<AuditOptions>;
  }
}

export const AUDIT_OPTIONS = {
  features: { audit: option.feature({ default: false, env: 'FEATURE_AUDIT' }) },
} satisfies option.OptionTree;

export const AUDIT_MODULE_OPTIONS = {
  audit: {
    days: option.days(1, option.MOST_DAYS, { default: 365, env: 'AUDIT_DAYS' }),
  } satisfies option.TableOf<AuditOptions>,
} satisfies option.OptionTree;
