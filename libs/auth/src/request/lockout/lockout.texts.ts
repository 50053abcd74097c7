export type {} from '../../foundation/ports/mail';

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    accountLocked: ChangeTemplate;
  }
}
