import libshell from './index.js';

export const { Shell, Image, Output, RunStream, ShellError, tools, describe, formatResult, auditVerify, commandNames, version, feature } = libshell;
export default libshell;
