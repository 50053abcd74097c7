import '../../foundation/ports/mail';

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    twoFactorEnabled: ChangeTemplate;
    twoFactorDisabled: ChangeTemplate;
    recoveryCodesReplaced: ChangeTemplate;
  }
}
