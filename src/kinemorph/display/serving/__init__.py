"""The web server of the viewer and of the studio: pages for a browser on this computer, and a channel to each of them.

site            what is served: a page, folders of files, answers to the page's questions, downloads and uploads
server          `start(site)`, and the running server with its address
until_stopped   what servers, viewers and studios have in common: they run until they are stopped
ports           the socket on which a server listens; sentences for ports that are taken
application     the addresses of a server: page, files, downloads, uploads, channel
guards          the checks that every request has to pass before it reaches the application
policies        the security headers of every response
limits          the largest sizes, rates and numbers that a server accepts
connections     HTTP and WebSocket connections with bounds on their number and duration
channel         messages to one page, in a bounded queue in which a newer picture replaces an older one
conversation    the questions of one page, and the order in which they are answered
messages        JSON from and for pages: bounded depth, no NaN
confined_paths  files inside a folder, by names that come from a page
page/           connection.js, the page's end of the channel
"""
