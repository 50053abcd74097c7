export enum AuthProvidersEnum {
  email = 'email',
  google = 'google',
}
