import { GatewayUrl } from '#libs/device-offer';
import { badInput } from '../../terminal/index.js';

/** The address of a gateway as a person gives it. @throws CliError bad input. */
export function checkGatewayUrl(text: string, from = '--url'): string {
  const parsed = GatewayUrl.safeParse(text);
  if (parsed.success) return parsed.data;
  throw badInput(`${from} ${parsed.error.issues.map(({ message }) => message).join('; ')}`);
}

/** How clients that send no headers say who they are: the token is a part of the address. */
export function urlWithToken(url: string): string {
  return `${url}?token=<token>`;
}
