export type {} from '../../foundation/ports/mail';

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    /** After a change and after a reset of the password. */
    passwordChanged: ChangeTemplate;
  }
}
