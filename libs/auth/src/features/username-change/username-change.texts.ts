export {};

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    /** After a change of the identifier that is not the email. */
    usernameChanged: ChangeTemplate;
  }
}
